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
        ready: @Sendable () -> Void
    ) async throws {
        ready()
        for await _ in drain { break }
    }
}
