internal import Foundation
internal import Logging
internal import Worker

/// The one place where the verb `worker` meets the room `Worker`.
enum WorkerProcess {
    /// Runs one worker until it has drained.
    ///
    /// - Parameters:
    ///   - drain: yields once, when the worker shall stop taking messages, finish what is in flight and return.
    ///   - ready: to be called once, when the worker takes messages.
    /// - Throws: what makes going on pointless; the process then exits with 1.
    static func run(
        settings: FleetSettings,
        logger: Logger,
        drain: AsyncStream<Void>,
        ready: @escaping @Sendable () -> Void
    ) async throws {
        let worker = try Worker.start(
            settings,
            version: Version.current,
            host: ProcessInfo.processInfo.hostName,
            processID: ProcessInfo.processInfo.processIdentifier,
            logger: logger,
            onReady: ready
        )
        for await _ in drain { break }
        await worker.drain()
    }
}
