import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import TestServers

/// An http subscriber: keeps what is posted to it, and answers as it is told.
final class Receiver: Sendable {
    struct Posted: Sendable {
        let path: String
        let headers: [String: String]
        let body: String

        /// The envelope's members that are texts.
        var envelope: [String: String] {
            let object = try? JSONSerialization.jsonObject(with: Data(self.body.utf8)) as? [String: Any]
            return object?.compactMapValues { $0 as? String } ?? [:]
        }
    }

    private struct State {
        var posted: [Posted] = []
        /// The next answers; 200 when there are no more.
        var statuses: [Int] = []
        var answers: [HTTPField] = []
    }

    private let state: Mutex<State>
    private let services: ServiceGroup
    private let task: Task<Void, any Error>
    let port: Int

    private init(_ state: consuming State, services: ServiceGroup, task: Task<Void, any Error>, port: Int) {
        self.state = Mutex(state)
        self.services = services
        self.task = task
        self.port = port
    }

    private final class Holder: Sendable {
        let receiver = Mutex<Receiver?>(nil)
    }

    private struct Responder: HTTPResponder {
        typealias Context = BasicRequestContext

        let holder: Holder

        func respond(to request: Request, context: Context) async throws -> Response {
            let body = try await request.body.collect(upTo: 1 << 20)
            var headers: [String: String] = [:]
            for field in request.headers { headers[field.name.canonicalName] = field.value }
            headers["host"] = request.head.authority
            let posted = Posted(path: request.head.path ?? "", headers: headers, body: String(buffer: body))
            guard let receiver = self.holder.receiver.withLock({ $0 }) else { return Response(status: .badGateway) }
            return receiver.take(posted)
        }
    }

    static func start() async throws -> Receiver {
        let holder = Holder()
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let quiet = Logger(label: "receiver") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            responder: Responder(holder: holder),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in found.yield(channel.localAddress?.port ?? 0) },
            logger: quiet
        )
        let services = ServiceGroup(configuration: .init(services: [application], logger: quiet))
        let task = Task {
            defer { found.finish() }
            try await services.run()
        }
        for await port in ports {
            let receiver = Receiver(State(), services: services, task: task, port: port)
            holder.receiver.withLock { $0 = receiver }
            return receiver
        }
        throw NeverHappened(description: "the receiver listens")
    }

    private func take(_ posted: Posted) -> Response {
        self.state.withLock { state in
            state.posted.append(posted)
            let status = state.statuses.isEmpty ? 200 : state.statuses.removeFirst()
            var headers = HTTPFields()
            for field in state.answers { headers.append(field) }
            return Response(status: .init(code: status), headers: headers)
        }
    }

    var url: String { "http://127.0.0.1:\(self.port)/hook" }

    var posted: [Posted] { self.state.withLock { $0.posted } }

    /// The next requests are answered with these.
    func answer(_ statuses: [Int], headers: [HTTPField] = []) {
        self.state.withLock { state in
            state.statuses = statuses
            state.answers = headers
        }
    }

    /// Waits for the first of a type that has come.
    func first(_ type: String, where isIt: @Sendable (Posted) -> Bool = { _ in true }) async throws -> Posted {
        try await eventually("a \(type) is posted") {
            self.posted.contains { $0.headers["x-amz-sns-message-type"] == type && isIt($0) }
        }
        return self.posted.first { $0.headers["x-amz-sns-message-type"] == type && isIt($0) }!
    }

    func stop() async {
        await self.services.triggerGracefulShutdown()
        self.task.cancel()
        _ = await self.task.result
    }
}
