internal import Foundation
internal import Logging
internal import Worker

/// The one place where the verb `worker` meets the room `Worker`.
enum WorkerProcess {
    /// Runs one worker until it has drained.
    ///
    /// - Parameters:
    ///   - option: the value of `--config`, for reading it again.
    ///   - hangups: yields when the configuration is to be read again.
    ///   - drain: yields once, when the worker shall stop taking messages, finish what is in flight and return.
    ///   - ready: to be called once, when the worker takes messages.
    /// - Throws: what makes going on pointless; the process then exits with 1.
    static func run(
        _ loaded: LoadedConfiguration,
        option: String?,
        logger: Logger,
        drain: AsyncStream<Void>,
        hangups: AsyncStream<Void>,
        ready: @escaping @Sendable () -> Void
    ) async throws {
        let worker = try Worker.start(
            loaded.settings,
            credentials: loaded.credentials,
            version: Version.current,
            host: ProcessInfo.processInfo.hostName,
            processID: ProcessInfo.processInfo.processIdentifier,
            logger: logger,
            onReady: ready
        )
        let reload = CredentialReload(of: loaded, worker: worker, logger: logger) {
            ConfigurationLoader().load(option: option, needs: [.servers, .keys])
        }
        let watching = Task { await reload.run(hangups: hangups) }
        for await _ in drain { break }
        watching.cancel()
        await worker.drain()
    }
}
