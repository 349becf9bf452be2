internal import CLinux
internal import Glibc
internal import Synchronization

/// A thread that runs one loop.
package final class LoopThread: Sendable {
    /// How to reach the loop from elsewhere.
    package let remote: RemoteLoop
    private let thread: Mutex<pthread_t?>

    private init(remote: RemoteLoop, thread: pthread_t) {
        self.remote = remote
        self.thread = Mutex(thread)
    }

    deinit {
        // Nobody will join it any more, so it frees its stack itself when it ends.
        if let thread = self.thread.withLock({ $0.take() }) { pthread_detach(thread) }
    }

    /// Starts a thread, creates its loop, calls `body` there to set things up, and runs the loop until it is stopped.
    ///
    /// The stack is large because librabbitmq 0.11 decodes nested header tables by recursion, and a publisher decides
    /// how deeply they nest (at most one frame's worth); unused stack costs address space only.
    /// - Parameter name: shown by the system's tools, at most 15 bytes.
    package static func start(
        name: String,
        _ body: @escaping @Sendable (EventLoop) -> Void
    ) throws(LoopError) -> LoopThread {
        let start = Start(name: String(name.prefix(15)), body: body)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 64 << 20)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(start).toOpaque()
        let result = pthread_create(
            &thread,
            &attributes,
            { context in
                let start = Unmanaged<Start>.fromOpaque(context!).takeRetainedValue()
                pushfleet_name_this_thread(start.name)
                start.main()
                return nil
            },
            context
        )
        guard result == 0 else {
            Unmanaged<Start>.fromOpaque(context).release()
            errno = result
            throw LoopError("pthread_create")
        }
        while sem_wait(start.isSetUp) != 0, errno == EINTR {}
        switch start.result.withLock({ $0 }) {
        case .success(let remote)?: return LoopThread(remote: remote, thread: thread)
        case .failure(let error)?: throw error
        case nil: preconditionFailure("a loop thread reported nothing")
        }
    }

    /// Waits until the loop has been stopped and its thread has ended. Never call it on a loop's thread.
    package func join() {
        guard let thread = self.thread.withLock({ $0.take() }) else { return }
        pthread_join(thread, nil)
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable (EventLoop) -> Void
        let result = Mutex<Result<RemoteLoop, LoopError>?>(nil)
        /// `nonisolated(unsafe)`: a POSIX semaphore is made to be shared between threads.
        nonisolated(unsafe) let isSetUp = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init(name: String, body: @escaping @Sendable (EventLoop) -> Void) {
            self.name = name
            self.body = body
            sem_init(self.isSetUp, 0, 0)
        }

        deinit {
            sem_destroy(self.isSetUp)
            self.isSetUp.deallocate()
        }

        func main() {
            do throws(LoopError) {
                let loop = try EventLoop()
                self.body(loop)
                self.result.withLock { $0 = .success(loop.remote) }
                sem_post(self.isSetUp)
                loop.run()
            } catch {
                self.result.withLock { $0 = .failure(error) }
                sem_post(self.isSetUp)
            }
        }
    }
}
