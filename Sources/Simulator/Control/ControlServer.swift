internal import Foundation
internal import Hummingbird
internal import Logging
internal import Synchronization

/// The control API: plain HTTP and JSON, described in `deploy/simulator/openapi.yaml`.
final class ControlServer: Sendable {
    let port: UInt16
    private let task: Task<Void, any Error>

    private init(port: UInt16, task: Task<Void, any Error>) {
        self.port = port
        self.task = task
    }

    /// Starts it; when this returns it listens.
    /// - Parameter port: 0 for a free one.
    static func start(desk: SimulatorDesk, host: String, port: UInt16) async throws -> ControlServer {
        let (ports, portFound) = AsyncStream.makeStream(of: Int.self)
        // It logs nothing of its own accord: who starts a simulator says what is said.
        let logger = Logger(label: "simulator.control") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            router: ControlRoutes(desk: desk).router,
            configuration: ApplicationConfiguration(address: .hostname(host, port: Int(port))),
            onServerRunning: { channel in portFound.yield(channel.localAddress?.port ?? 0) },
            logger: logger
        )
        let task = Task {
            defer { portFound.finish() }
            try await application.run()
        }
        for await port in ports { return ControlServer(port: UInt16(port), task: task) }
        try await task.value
        throw SimulatorError("it ended before it began")
    }

    func stop() async {
        self.task.cancel()
        _ = await self.task.result
    }
}
