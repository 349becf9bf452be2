internal import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import Push
internal import ServiceLifecycle
internal import WebServer

/// Amazon SNS' mobile push, topics and subscriptions over HTTP, in front of Redis and RabbitMQ.
///
/// Keeps nothing of its own: any number of gateways may run side by side.
package final class Gateway: Sendable {
    /// The port that it listens on.
    package let port: UInt16

    let desk: GatewayDesk
    private let outside: GatewayOutside
    private let access: AccessBook
    private let services: ServiceGroup
    private let task: Task<Void, any Error>
    private let drainTimeout: Duration
    private let declaring: Task<Void, Never>

    private init(
        port: UInt16,
        desk: GatewayDesk,
        outside: GatewayOutside,
        access: AccessBook,
        services: ServiceGroup,
        task: Task<Void, any Error>,
        drainTimeout: Duration,
        declaring: Task<Void, Never>
    ) {
        self.port = port
        self.desk = desk
        self.outside = outside
        self.access = access
        self.services = services
        self.task = task
        self.drainTimeout = drainTimeout
        self.declaring = declaring
    }

    /// Starts it; when this returns it listens. Connecting to Redis and RabbitMQ goes on in the background.
    /// - Throws: when the address cannot be listened on, or a certificate cannot be used.
    package static func start(_ parts: GatewayParts, logger: Logger) async throws -> Gateway {
        let metrics = Metrics()
        let outside = GatewayOutside(parts.settings)
        let desk = try GatewayDesk.start(parts, outside: outside, metrics: metrics)
        do {
            return try await Self.listen(parts, desk: desk, outside: outside, metrics: metrics, logger: logger)
        } catch {
            await desk.stop()
            await outside.sender.stop()
            throw error
        }
    }

    private static func listen(
        _ parts: GatewayParts,
        desk: GatewayDesk,
        outside: GatewayOutside,
        metrics: Metrics,
        logger: Logger
    ) async throws -> Gateway {
        let (ports, portFound) = AsyncStream.makeStream(of: Int.self)
        let settings = parts.settings
        let topology = TopologyKeeper(parts.broker("declare"), logger: logger)
        let service = GatewayService(
            settings,
            desk: desk,
            outside: outside,
            metrics: metrics,
            topology: topology,
            logger: logger
        )
        // Hummingbird's own lines name every request; ours are written where something is decided.
        let quiet = Logger(label: "gateway.http") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            responder: GatewayResponder(service: service),
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
            outside.listens(on: port, settings)
            return Gateway(
                port: UInt16(port),
                desk: desk,
                outside: outside,
                access: service.access,
                services: services,
                task: task,
                drainTimeout: settings.drainTimeout,
                declaring: Task {
                    await topology.run()
                    guard !Task.isCancelled else { return }
                    await desk.ask { core, completion in
                        core.declared()
                        completion(())
                    }
                }
            )
        }
        try await task.value
        throw CancellationError()
    }

    /// Goes by other access keys and master keys from now on; calls that were checked before go on. Everything else of the
    /// settings stays as it was.
    package func use(_ settings: GatewaySettings) {
        self.access.use(settings)
    }

    /// Returns when the thread that has all connections has turned; never while it hangs.
    package func turn() async {
        await self.desk.ask { _, completion in completion(()) }
    }

    /// Accepts nothing new, finishes the requests that are under way within the drain timeout, and closes.
    package func stop() async {
        await self.services.triggerGracefulShutdown()
        let limit = Task { [task, drainTimeout] in
            try await Task.sleep(for: drainTimeout)
            task.cancel()
        }
        _ = await self.task.result
        limit.cancel()
        self.declaring.cancel()
        await self.desk.stop()
        await self.outside.sender.stop()
    }
}
