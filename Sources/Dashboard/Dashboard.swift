internal import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import WebServer

/// The fleet as a web page: what Redis and RabbitMQ know, live, and what people on call do about it.
///
/// Needs no worker alive. Any number of dashboards may run side by side; sessions and jobs are each one's own.
package final class Dashboard: Sendable {
    /// The port that it listens on.
    package let port: UInt16

    private let service: DashboardService
    private let services: ServiceGroup
    private let task: Task<Void, any Error>
    private let work: Task<Void, Never>
    private let drainTimeout: Duration

    private init(
        port: UInt16,
        service: DashboardService,
        services: ServiceGroup,
        task: Task<Void, any Error>,
        drainTimeout: Duration
    ) {
        self.port = port
        self.service = service
        self.services = services
        self.task = task
        self.drainTimeout = drainTimeout
        self.work = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await service.source.run() }
                group.addTask { await service.hub.run() }
            }
        }
    }

    /// Starts it; when this returns it listens. Redis and RabbitMQ are connected to when somebody asks.
    /// - Throws: when the address cannot be listened on, or a certificate cannot be used.
    package static func start(_ parts: DashboardParts, logger: Logger) async throws -> Dashboard {
        let (ports, portFound) = AsyncStream.makeStream(of: Int.self)
        let settings = parts.settings
        let service = DashboardService(parts, logger: logger)
        // Hummingbird's own lines name every request; ours are written where something is decided.
        let quiet = Logger(label: "dashboard.http") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            responder: DashboardResponder(service: service),
            server: try WebServer.builder(tls: settings.tls, patience: settings.requestTimeout),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: Int(settings.port)),
                availableConnectionsDelegate: .maximum(settings.connectionLimit, logger: quiet)
            ),
            onServerRunning: { channel in portFound.yield(channel.localAddress?.port ?? 0) },
            logger: quiet
        )
        let services = ServiceGroup(configuration: .init(services: [application], logger: quiet))
        let task = Task {
            defer { portFound.finish() }
            try await services.run()
        }
        for await port in ports {
            return Dashboard(
                port: UInt16(port),
                service: service,
                services: services,
                task: task,
                drainTimeout: settings.drainTimeout
            )
        }
        try await task.value
        throw CancellationError()
    }

    /// Goes by other users and another configuration of the fleet from now on; everything else stays as it was.
    package func use(_ settings: DashboardSettings) async {
        self.service.doorkeeper.use(settings)
        await self.service.source.reload()
    }

    /// Accepts nothing new, ends the streams, finishes what is under way within the drain timeout, stops jobs in good
    /// order, and closes.
    package func stop() async {
        await self.service.hub.stop()
        await self.services.triggerGracefulShutdown()
        let limit = Task { [task, drainTimeout] in
            try await Task.sleep(for: drainTimeout)
            task.cancel()
        }
        _ = await self.task.result
        limit.cancel()
        self.work.cancel()
        await self.work.value
        await self.service.jobs.stopAll()
        await self.service.links.stop()
    }
}
