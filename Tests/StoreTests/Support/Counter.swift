import Synchronization

/// Counts calls from any thread.
final class Counter: Sendable {
    private let value = Mutex(0)

    /// 0 the first time.
    func next() -> Int {
        self.value.withLock { value in
            defer { value += 1 }
            return value
        }
    }
}
