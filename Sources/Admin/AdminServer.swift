internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import Loop
internal import NIOCore
internal import Push
internal import ServiceLifecycle
internal import WebServer
package import Worker

/// A worker process' probes and metrics over HTTP, on threads of their own: what the loops left on their boards is all
/// that they read.
package final class AdminServer: Sendable {
    /// The port that it listens on.
    package let port: UInt16

    private let services: ServiceGroup
    private let task: Task<Void, any Error>

    private init(port: UInt16, services: ServiceGroup, task: Task<Void, any Error>) {
        self.port = port
        self.services = services
        self.task = task
    }

    /// Starts it; when this returns it listens.
    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - workers: those of this process; empty until they are started.
    /// - Throws: when the address cannot be listened on.
    package static func start(
        host: String,
        port: UInt16,
        version: String,
        workers: @escaping @Sendable () -> [Worker]
    ) async throws -> AdminServer {
        let (ports, portFound) = AsyncStream.makeStream(of: Int.self)
        let quiet = Logger(label: "admin.http") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            responder: AdminResponder(workers: workers, version: version, startedAt: WallClock.now()),
            server: try WebServer.builder(tls: nil, patience: .seconds(10)),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: Int(port)),
                availableConnectionsDelegate: .maximum(Self.connectionLimit, logger: quiet)
            ),
            onServerRunning: { channel in portFound.yield(channel.localAddress?.port ?? 0) },
            logger: quiet
        )
        let services = ServiceGroup(configuration: .init(services: [application], logger: quiet))
        let task = Task {
            defer { portFound.finish() }
            try await services.run()
        }
        for await port in ports { return AdminServer(port: UInt16(port), services: services, task: task) }
        try await task.value
        throw CancellationError()
    }

    /// Probes and a scraper or two; more are a mistake or an attack.
    private static let connectionLimit = 64

    /// Closes; a probe under way is cut after a moment.
    package func stop() async {
        await self.services.triggerGracefulShutdown()
        let limit = Task { [task] in
            try await Task.sleep(for: .seconds(1))
            task.cancel()
        }
        _ = await self.task.result
        limit.cancel()
    }
}
