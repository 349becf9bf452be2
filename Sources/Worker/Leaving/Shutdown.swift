package import Push

/// How a worker stops: takes nothing new, finishes what is in flight, gives the rest back, leaves.
package struct Shutdown: Equatable, Sendable {
    package enum Phase: Equatable, Sendable {
        case running
        /// Waits for what is in flight, at most until then.
        case draining(until: MonotonicTime)
        /// Gives back leases and connections.
        case closing
    }

    package private(set) var phase = Phase.running

    package init() {}

    package var isDraining: Bool { self.phase != .running }

    /// - Returns: whether this began the drain; a second call changes nothing.
    package mutating func begin(at now: MonotonicTime, within grace: Duration) -> Bool {
        guard self.phase == .running else { return false }
        self.phase = .draining(until: now + grace)
        return true
    }

    /// Whether it is time to close: nothing is left to wait for, or the grace is over. True once.
    package mutating func shouldClose(at now: MonotonicTime, pending: Int) -> Bool {
        guard case .draining(let until) = self.phase, pending == 0 || now >= until else { return false }
        self.phase = .closing
        return true
    }
}
