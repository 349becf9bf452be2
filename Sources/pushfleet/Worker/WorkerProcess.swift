internal import Foundation
internal import Logging
internal import Worker

/// The one place where the verb `worker` meets the room `Worker`.
enum WorkerProcess {
    /// Runs workers until all have drained.
    ///
    /// - Parameters:
    ///   - option: the value of `--config`, for reading it again.
    ///   - loops: how many workers.
    ///   - hangups: yields when the configuration is to be read again.
    ///   - drain: yields once, when the workers shall stop taking messages, finish what is in flight and return.
    ///   - ready: to be called once, when every worker takes messages.
    /// - Throws: what makes going on pointless; the process then exits with 1.
    static func run(
        _ loaded: LoadedConfiguration,
        option: String?,
        loops: Int,
        logger: Logger,
        drain: AsyncStream<Void>,
        hangups: AsyncStream<Void>,
        ready: @escaping @Sendable () -> Void
    ) async throws {
        let workers = try await Self.start(loaded, loops: loops, logger: logger, ready: Countdown(loops, then: ready))
        let reload = ConfigurationReload(of: loaded, workers: workers, logger: logger) {
            ConfigurationLoader().load(option: option, needs: [.servers, .keys])
        }
        let watching = Task { await reload.run(hangups: hangups) }
        for await _ in drain { break }
        watching.cancel()
        await Self.drain(workers)
    }

    /// One that cannot be started is the end of those that were: the process is whole or not at all.
    private static func start(
        _ loaded: LoadedConfiguration,
        loops: Int,
        logger: Logger,
        ready: Countdown
    ) async throws -> [Worker] {
        var workers: [Worker] = []
        do {
            for number in 1...loops {
                var logger = logger
                if loops > 1 { logger[metadataKey: "loop"] = "\(number)" }
                workers.append(
                    try Worker.start(
                        loaded.settings,
                        credentials: loaded.credentials,
                        version: Version.current,
                        host: ProcessInfo.processInfo.hostName,
                        processID: ProcessInfo.processInfo.processIdentifier,
                        loop: loops > 1 ? number : nil,
                        logger: logger,
                        onReady: { ready.count() }
                    )
                )
            }
        } catch {
            await Self.drain(workers)
            throw error
        }
        return workers
    }

    private static func drain(_ workers: [Worker]) async {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { await worker.drain() } }
        }
    }
}
