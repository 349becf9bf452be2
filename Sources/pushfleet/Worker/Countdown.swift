internal import Synchronization

/// Calls back when so many have reported, from whatever thread the last one reports.
final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let completion: @Sendable () -> Void

    init(_ count: Int, then completion: @escaping @Sendable () -> Void) {
        self.left = Atomic(count)
        self.completion = completion
    }

    /// One has reported; each does so once.
    func count() {
        if self.left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { self.completion() }
    }
}
