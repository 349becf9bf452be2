internal import Loop
internal import Push
internal import WebServer
package import Worker

/// A worker process' probes and metrics over HTTP, on threads of their own: what the loops left on their boards is all
/// that they read.
package final class AdminServer: Sendable {
    /// The port that it listens on.
    package let port: UInt16

    private let server: ListeningServer

    private init(_ server: ListeningServer) {
        self.server = server
        self.port = server.port
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
        let settings = ListeningServer.Settings(
            host: host,
            port: port,
            connectionLimit: Self.connectionLimit,
            // A probe under way is cut after a moment.
            drainTimeout: .seconds(1)
        )
        let responder = AdminResponder(workers: workers, version: version, startedAt: WallClock.now())
        return AdminServer(try await ListeningServer.start(responder, settings))
    }

    /// Probes and a scraper or two; more are a mistake or an attack.
    private static let connectionLimit = 64

    /// Closes.
    package func stop() async { await self.server.stop() }
}
