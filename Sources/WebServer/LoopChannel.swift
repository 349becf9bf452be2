internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// Serves each connection on its event loop. Hummingbird's handlers run on Swift's pool, and each part of a request and
/// of its answer would wake another thread; so a request leaves its loop only for its room's own.
struct LoopChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        self.base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor(loop: value.channel.eventLoop)) {
            await self.base.handle(value: value, logger: logger)
        }
    }
}

/// Runs tasks on an event loop. Nothing that runs there may block.
private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
