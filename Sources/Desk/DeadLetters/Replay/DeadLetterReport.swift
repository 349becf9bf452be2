package import Push

/// How a job with dead letters goes on or went.
package struct DeadLetterReport: Equatable, Sendable {
    /// Letters that a worker would refuse once more, for the same reason.
    package struct Problem: Equatable, Sendable {
        package let refusal: Refusal
        package var count: Int
        /// One of them.
        package let example: DeadLetterID
    }

    /// Letters that were chosen.
    package let total: Int
    /// Of these, done: confirmed by RabbitMQ, and taken off the dead-letter queue.
    package internal(set) var done = 0
    /// Not done because they are still bad.
    package internal(set) var refused = 0
    /// Not done because RabbitMQ did not confirm; see `trouble`.
    package internal(set) var failed = 0
    /// Why letters were refused, the most first once the job is over. Letters beyond the first 100 kinds are only counted.
    package internal(set) var problems: [Problem] = []
    /// What RabbitMQ said of the first letter that failed.
    package internal(set) var trouble: String?
    /// Why RabbitMQ takes nothing now, if it does not: it has an alarm.
    package internal(set) var blocked: String?
    /// Whether it was told to stop before its end.
    package internal(set) var isStopped = false
    /// Why it came to no end.
    package internal(set) var failure: DeadLetterFailure?
    /// Letters that were no longer there, or that another reader held.
    package internal(set) var missing = 0

    /// Everything is done.
    package var isComplete: Bool { self.done == self.total }
    /// Letters that it is through with.
    package var decided: Int { self.done + self.refused + self.failed + self.missing }

    init(total: Int) { self.total = total }

    mutating func refuse(_ id: DeadLetterID, _ refusal: Refusal) {
        self.refused += 1
        if let index = self.problems.firstIndex(where: { $0.refusal == refusal }) {
            self.problems[index].count += 1
        } else if self.problems.count < 100 {
            self.problems.append(Problem(refusal: refusal, count: 1, example: id))
        }
    }
}
