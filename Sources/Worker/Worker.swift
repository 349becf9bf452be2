internal import APNs
internal import Broker
package import Logging
internal import Loop
internal import Push
package import Store
internal import Wire

/// One replica of the fleet, on a thread of its own.
package final class Worker: Sendable {
    private let thread: LoopThread
    private enum Order: Sendable {
        case drain
        case use(LoadedCredential)
        case refuse(credential: String, problem: String)
        case apply(FleetChange, [LoadedCredential])
    }

    private let control: AsyncStream<Order>.Continuation
    private let drainRequests: AsyncStream<Void>
    private let board: VitalsBoard

    /// Starts. Connecting goes on in the background and never gives up.
    /// - Parameters:
    ///   - credentials: all of the settings' credentials; nil to read them from their files now.
    ///   - version: told to RabbitMQ, Redis and in dead letters.
    ///   - host: this machine's name, for the same.
    ///   - loop: counts the workers of one process from 1; nil if there is only one.
    ///   - onReady: called once, when connections to Apple are granted; on the worker's own thread.
    ///   - onDrainOrder: called once, when somebody orders this worker to drain; on its own thread. It goes on until
    ///     ``drain()`` is called.
    /// - Throws: what no waiting can mend: a key, a certificate or a setting that cannot be used.
    package static func start(
        _ settings: FleetSettings,
        credentials: [LoadedCredential]? = nil,
        version: String,
        host: String,
        processID: Int32,
        loop: Int? = nil,
        logger: Logger,
        onReady: @escaping @Sendable () -> Void,
        onDrainOrder: @escaping @Sendable (DrainOrder) -> Void = { _ in }
    ) throws -> Worker {
        let parts = try WorkerParts(
            settings,
            credentials: credentials
                ?? settings.credentials.map { try LoadedCredential.load($0, at: WallClock.now()) },
            version: version,
            host: host,
            processID: processID,
            loop: loop,
            teller: Teller(logger, onReady: onReady),
            onDrainOrder: onDrainOrder
        )
        return try Worker(parts)
    }

    /// Long enough that a busy worker's reads and writes carry dozens of messages each, and far below a round trip to Apple.
    /// `scripts/bench` without and with it: 50 % retries 30.2 and 16.4 µs per notification, half load 20.9 and 12.4.
    private static let linger = Duration.milliseconds(1)

    private init(_ parts: WorkerParts) throws {
        let (requests, control) = AsyncStream.makeStream(of: Order.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        self.control = control
        self.drainRequests = ended
        self.board = parts.vitals
        self.thread = try LoopThread.start(name: parts.threadName) { loop in
            guard let worker = try? WorkerLoop(parts, on: loop) else {
                preconditionFailure("a certificate file that was read before cannot be read now")
            }
            loop.linger = Self.linger
            worker.start()
            let bound = LoopBound(worker, to: loop)
            let remote = loop.remote
            Task {
                for await order in requests {
                    remote.post {
                        let worker = bound.value
                        switch order {
                        case .drain:
                            worker.drain {
                                worker.loop.stop()
                                end.finish()
                            }
                        case .use(let credential): worker.use(credential)
                        case .refuse(let name, let problem): worker.refuseCredential(name, problem)
                        case .apply(let change, let credentials): worker.apply(change, credentials)
                        }
                    }
                }
            }
        }
    }

    /// What its loop said of itself last, about a second ago. Waits for nothing.
    package var vitals: WorkerVitals? { self.board.vitals }

    /// How late its loop came to what was due, at most, since this was last asked.
    package func takeLag() -> Duration { self.board.takeLag() }

    /// Uses a credential in place of the one with its name, without losing or doubling a message.
    package func use(_ credential: LoadedCredential) {
        self.control.yield(.use(credential))
    }

    /// Tells and counts that a changed credential cannot be used; the old one goes on.
    package func refuse(_ credential: String, because problem: String) {
        self.control.yield(.refuse(credential: credential, problem: problem))
    }

    /// Lets apps and credentials come, change and go; the others go on undisturbed. What is under way has its end, and
    /// what is not sent yet goes back to RabbitMQ. Another key or certificate under the same name is for
    /// ``use(_:)``.
    /// - Parameter credentials: those that the change adds, what is derived from them for broadcasts included.
    package func apply(_ change: FleetChange, credentials: [LoadedCredential]) {
        self.control.yield(.apply(change, credentials))
    }

    /// Takes nothing new, finishes what is in flight within the drain timeout, gives the rest and the lease back.
    /// Returns when all of that is done.
    package func drain() async {
        self.control.yield(.drain)
        for await _ in self.drainRequests {}
        self.thread.join()
    }
}
