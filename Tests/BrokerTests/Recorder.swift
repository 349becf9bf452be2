import Synchronization

/// What happened, in order, and a way to wait until it did.
final class Recorder<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        var waiters: [Int: Waiter] = [:]
        var count = 0
    }

    /// Sees each event once: tests wait for tens of thousands.
    private struct Waiter {
        var missing: Int
        let counts: @Sendable (Event) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private let state = Mutex(State())

    var events: [Event] { self.state.withLock { $0.events } }

    func record(_ event: Event) {
        self.state.withLock { state in
            state.events.append(event)
            for id in state.waiters.keys where state.waiters[id]!.counts(event) {
                state.waiters[id]!.missing -= 1
                guard state.waiters[id]!.missing == 0 else { continue }
                state.waiters.removeValue(forKey: id)?.continuation.resume(returning: true)
            }
        }
    }

    struct TooLate: Error, CustomStringConvertible {
        let description: String
    }

    /// Waits until `count` events, earlier ones included, are such as asked for; the limit only ends a test that hangs.
    @discardableResult
    func wait(
        limit: Duration = .seconds(30),
        _ what: String,
        count: Int = 1,
        after start: Int = 0,
        where counts: @escaping @Sendable (Event) -> Bool
    ) async throws -> [Event] {
        let id = self.state.withLock { state in
            state.count += 1
            return state.count
        }
        let timer = Task {
            try await Task.sleep(for: limit)
            self.state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: false)
        }
        let isInTime = await withCheckedContinuation { continuation in
            self.state.withLock { state in
                let missing = count - state.events.dropFirst(start).count(where: counts)
                guard missing > 0 else { return continuation.resume(returning: true) }
                state.waiters[id] = Waiter(missing: missing, counts: counts, continuation: continuation)
            }
        }
        timer.cancel()
        guard isInTime else { throw TooLate(description: "\(what) did not happen; \(self.events.suffix(20))") }
        return self.events
    }
}
