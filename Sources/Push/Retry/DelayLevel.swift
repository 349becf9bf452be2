/// One fixed delay and the queue that keeps it.
///
/// RabbitMQ expires messages only at the head of a queue, so each distinct delay has a queue with one fixed TTL.
package struct DelayLevel: Hashable, Comparable, Sendable {
    /// The queue's TTL in milliseconds, at least 1.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        precondition(milliseconds > 0, "a delay level lasts at least a millisecond")
        self.milliseconds = milliseconds
    }

    package var duration: Duration { .milliseconds(self.milliseconds) }

    /// `10s`, `90s`, `500ms`, `2500ms`: whole seconds where they say it exactly. Stable, as queues are named by it.
    package var name: String {
        self.milliseconds % 1000 == 0 ? "\(self.milliseconds / 1000)s" : "\(self.milliseconds)ms"
    }

    /// `pushfleet.delay.<name>`.
    package var queueName: String { "pushfleet.delay.\(self.name)" }

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
