package import Loop
internal import Synchronization

/// A loop of its own for a question or two: what a command-line verb needs of connections.
package final class Bench: Sendable {
    private let thread: LoopThread
    private let loop: LoopBound<EventLoop>

    /// Starts the thread.
    package init(name: String) throws(LoopError) {
        let box = Mutex<LoopBound<EventLoop>?>(nil)
        self.thread = try LoopThread.start(name: name) { loop in
            let bound = LoopBound(loop, to: loop)
            box.withLock { $0 = bound }
        }
        guard let loop = box.withLock({ $0 }) else { preconditionFailure("the loop did not make its first call") }
        self.loop = loop
    }

    /// Runs `body` on the loop and waits until it calls what it was given, once.
    package func ask<Answer: Sendable>(
        _ body: @escaping @Sendable (EventLoop, @escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer {
        let loop = self.loop
        return await withCheckedContinuation { continuation in
            self.thread.remote.post { body(loop.value) { continuation.resume(returning: $0) } }
        }
    }

    /// Ends the loop; what still lives on it is closed by its owners before.
    package func stop() {
        let loop = self.loop
        self.thread.remote.post { loop.value.stop() }
        self.thread.join()
    }
}
