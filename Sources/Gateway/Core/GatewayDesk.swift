internal import Loop
internal import Synchronization

/// How handlers reach the gateway's loop: one hop there, one continuation back.
final class GatewayDesk: Sendable {
    private let thread: LoopThread
    private let core: LoopBound<GatewayLoop>

    private init(thread: LoopThread, core: LoopBound<GatewayLoop>) {
        self.thread = thread
        self.core = core
    }

    /// Starts the thread; connecting goes on in the background and never gives up.
    static func start(_ parts: GatewayParts, outside: GatewayOutside, metrics: Metrics) throws -> GatewayDesk {
        let holder = Mutex<Result<LoopBound<GatewayLoop>, any Error>?>(nil)
        let thread = try LoopThread.start(name: "gateway") { loop in
            do {
                let core = try GatewayLoop(parts, outside: outside, metrics: metrics, on: loop)
                core.start()
                holder.withLock { $0 = .success(LoopBound(core, to: loop)) }
            } catch {
                holder.withLock { $0 = .failure(error) }
                loop.after(.zero) { loop.stop() }
            }
        }
        guard let core = try holder.withLock({ $0 })?.get() else { preconditionFailure("a gateway without a loop") }
        return GatewayDesk(thread: thread, core: core)
    }

    /// Asks something of the loop that is answered later, by one call of the completion.
    func ask<Answer: Sendable>(
        _ body: @escaping @Sendable (GatewayLoop, @escaping (Answer) -> Void) -> Void
    ) async -> Answer {
        await withCheckedContinuation { continuation in
            let core = self.core
            self.thread.remote.post {
                body(core.value) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Ends the loop when everything is written and confirmed. Nothing may be asked afterwards.
    func stop() async {
        await self.ask { core, completion in
            core.stop {
                completion(())
                core.loop.stop()
            }
        }
        self.thread.join()
    }
}
