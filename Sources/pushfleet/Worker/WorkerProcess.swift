internal import Admin
internal import Foundation
internal import Logging
internal import Loop
internal import Push
internal import Store
internal import Synchronization
internal import Worker

/// The one place where the verb `worker` meets the room `Worker`.
enum WorkerProcess {
    /// Runs workers until all have drained.
    ///
    /// - Parameters:
    ///   - option: the value of `--config`, for reading it again.
    ///   - loops: how many workers.
    ///   - hangups: yields when the configuration is to be read again.
    ///   - drain: yields once, when the workers shall stop taking messages, finish what is in flight and return. An
    ///     order through Redis does the same.
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
        let crew = Crew()
        let admin = try await Self.admin(loaded.settings.worker, crew, logger)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let workers: [Worker]
        do {
            workers = try await Self.start(
                loaded,
                loops: loops,
                logger: logger,
                ready: Countdown(loops, then: ready),
                onDrainOrder: { _ in end.yield() }
            )
        } catch {
            await admin?.stop()
            throw error
        }
        crew.workers = workers
        let reload = ConfigurationReload(of: loaded, workers: workers, logger: logger) {
            ConfigurationLoader().load(option: option, needs: [.servers, .keys])
        }
        let asking = Task {
            for await _ in drain { break }
            end.yield()
        }
        let watch = ServiceWatch()
        await watch.run {
            Self.health(of: workers)
        } _: {
            let watching = Task { await reload.run(hangups: hangups) }
            for await _ in ends { break }
            watch.stops()
            watching.cancel()
            await Self.drain(workers)
        }
        asking.cancel()
        await admin?.stop()
    }

    /// The workers of this process, for those that look at them; empty until they are started.
    private final class Crew: Sendable {
        private let all = Mutex<[Worker]>([])

        var workers: [Worker] {
            get { self.all.withLock { $0 } }
            set { self.all.withLock { $0 = newValue } }
        }
    }

    /// Probes and metrics, where the settings want them.
    private static func admin(_ settings: WorkerSettings, _ crew: Crew, _ logger: Logger) async throws -> AdminServer? {
        guard let port = settings.adminPort else { return nil }
        do {
            let admin = try await AdminServer.start(host: settings.adminHost, port: port, version: Version.current) {
                crew.workers
            }
            logger.info("probes and metrics", metadata: ["port": "\(admin.port)"])
            return admin
        } catch {
            throw VerbFailure(
                "worker.admin_port: cannot listen on \(settings.adminHost):\(port): \(error); every process needs a "
                    + "port of its own, and worker.admin_host must be an address of this machine"
            )
        }
    }

    /// How the loops are, by their last words.
    private static func health(of workers: [Worker]) -> ServiceHealth {
        let vitals = workers.compactMap(\.vitals)
        let now = MonotonicClock.now()
        let readiness = Readiness.judge(all: vitals, at: now)
        return ServiceHealth(
            isTurning: vitals.allSatisfy { $0.isTurning(at: now) },
            isReady: readiness.isReady,
            status: readiness.text
        )
    }

    /// One that cannot be started is the end of those that were: the process is whole or not at all.
    private static func start(
        _ loaded: LoadedConfiguration,
        loops: Int,
        logger: Logger,
        ready: Countdown,
        onDrainOrder: @escaping @Sendable (DrainOrder) -> Void
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
                        onReady: { ready.count() },
                        onDrainOrder: onDrainOrder
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
