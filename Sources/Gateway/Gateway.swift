package import Logging
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
    private let server: ListeningServer
    private let declaring: Task<Void, Never>

    private init(
        _ server: ListeningServer,
        desk: GatewayDesk,
        outside: GatewayOutside,
        access: AccessBook,
        declaring: Task<Void, Never>
    ) {
        self.port = server.port
        self.server = server
        self.desk = desk
        self.outside = outside
        self.access = access
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
        let server = try await ListeningServer.start(GatewayResponder(service: service), settings.listening)
        outside.listens(on: Int(server.port), settings)
        return Gateway(
            server,
            desk: desk,
            outside: outside,
            access: service.access,
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
        await self.server.stop()
        self.declaring.cancel()
        await self.desk.stop()
        await self.outside.sender.stop()
    }
}
