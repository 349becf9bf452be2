package import Logging
internal import WebServer

/// The fleet as a web page: what Redis and RabbitMQ know, live, and what people on call do about it.
///
/// Needs no worker alive. Any number of dashboards may run side by side; sessions and jobs are each one's own.
package final class Dashboard: Sendable {
    /// The port that it listens on.
    package let port: UInt16

    private let service: DashboardService
    private let server: ListeningServer
    private let work: Task<Void, Never>

    private init(_ service: DashboardService, _ server: ListeningServer) {
        self.port = server.port
        self.service = service
        self.server = server
        self.work = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await service.source.run() }
                group.addTask { await service.hub.run() }
                group.addTask { await service.dead.warm() }
            }
        }
    }

    /// Starts it; when this returns it listens. Redis and RabbitMQ are connected to when somebody asks.
    /// - Throws: when the address cannot be listened on, or a certificate cannot be used.
    package static func start(_ parts: DashboardParts, logger: Logger) async throws -> Dashboard {
        let service = DashboardService(parts, logger: logger)
        let responder = DashboardResponder(service: service)
        return Dashboard(service, try await ListeningServer.start(responder, parts.settings.listening))
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
        await self.server.stop()
        self.work.cancel()
        await self.work.value
        await self.service.jobs.stopAll()
        await self.service.links.stop()
    }
}
