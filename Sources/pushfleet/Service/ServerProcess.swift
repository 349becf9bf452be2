internal import Foundation
internal import Logging

/// What every process that serves does before anything else.
enum ServerProcess {
    /// Logs to standard error from here on. To be called once.
    /// - Parameter logLevel: by swift-log's names; one that is unknown is "info".
    static func begin(_ label: String, logLevel: String) -> Logger {
        self.ignoreBrokenPipes()
        let level = Logger.Level(rawValue: logLevel) ?? .info
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        return Logger(label: label)
    }

    /// Tells the port, and goes on until a signal says that it is over. Systemd hears how it fares.
    /// - Parameters:
    ///   - health: asked again and again; while it does not return, systemd hears nothing.
    ///   - reload: goes by another configuration whenever the stream of SIGHUPs, or its own look, says so; cancelled at the end.
    ///   - stop: ends it in good order.
    static func serve(
        port: UInt16,
        logger: Logger,
        health: @escaping @Sendable () async -> ServiceHealth,
        reload: @escaping @Sendable (AsyncStream<Void>) async -> Void,
        stop: @escaping @Sendable () async -> Void
    ) async throws {
        logger.info("listening", metadata: ["version": "\(Version.current)", "port": "\(port)"])
        let (hangups, hangup) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        Terminal.print("port=\(port)")
        try await StopSignals.run { signal in
            logger.notice("stopping; a second signal ends at once", metadata: ["signal": "\(signal)"])
        } onHangup: {
            hangup.yield()
        } _: { signals in
            let watching = Task { await reload(hangups) }
            let watch = ServiceWatch()
            await watch.run(health: health) {
                for await _ in signals { break }
                watch.stops()
                watching.cancel()
                await stop()
            }
        }
        logger.info("stopped")
    }

    /// A peer that goes away while we write is an error on that socket, not the end of the process.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
