package import Hummingbird
internal import Logging
internal import NIOCore
internal import Push
internal import ServiceLifecycle

/// A server that listens until it is stopped.
package final class ListeningServer: Sendable {
    package struct Settings: Sendable {
        package var host: String
        /// 0 for a free one.
        package var port: UInt16
        /// Nil for plain HTTP.
        package var tls: WebServer.TLSFiles?
        /// How long a client may take to send a request, and how long an idle connection stays open.
        package var patience: Duration
        /// Connections beyond so many wait.
        package var connectionLimit: Int
        /// How long requests that are under way may take when the server stops.
        package var drainTimeout: Duration

        package init(
            host: String,
            port: UInt16,
            tls: WebServer.TLSFiles? = nil,
            patience: Duration = .seconds(10),
            connectionLimit: Int,
            drainTimeout: Duration
        ) {
            self.host = host
            self.port = port
            self.tls = tls
            self.patience = patience
            self.connectionLimit = connectionLimit
            self.drainTimeout = drainTimeout
        }
    }

    /// The port that it listens on.
    package let port: UInt16

    private let services: ServiceGroup
    private let task: Task<Void, any Error>
    private let drainTimeout: Duration

    private init(port: UInt16, services: ServiceGroup, task: Task<Void, any Error>, drainTimeout: Duration) {
        self.port = port
        self.services = services
        self.task = task
        self.drainTimeout = drainTimeout
    }

    /// Starts it; when this returns it listens.
    /// - Throws: when the address cannot be listened on, or a certificate cannot be used.
    package static func start<Responder: HTTPResponder>(
        _ responder: Responder,
        _ settings: Settings
    ) async throws -> ListeningServer
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        let (ports, portFound) = AsyncStream.makeStream(of: Int.self)
        // Hummingbird's own lines name every request; ours are written where something is decided.
        let quiet = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            responder: responder,
            server: try WebServer.builder(tls: settings.tls, patience: settings.patience),
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
            return ListeningServer(
                port: UInt16(port),
                services: services,
                task: task,
                drainTimeout: settings.drainTimeout
            )
        }
        try await task.value
        throw CancellationError()
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
    }
}
