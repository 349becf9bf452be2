internal import Synchronization

/// Ends a job in good order, from any thread or signal: what is under way is finished, nothing new begins.
package final class StopSwitch: Sendable {
    private let isOff = Atomic<Bool>(false)

    package init() {}

    package func stop() { self.isOff.store(true, ordering: .relaxed) }

    package var isStopped: Bool { self.isOff.load(ordering: .relaxed) }
}
