internal import Push

/// What a look at the dead-letter queue saw.
package struct DeadLetterLook: Sendable {
    /// What was asked for, the last to die first.
    package let letters: [DeadLetter]
    /// Letters in the queue when the look began.
    package let ready: Int
    /// Of these, letters that were seen.
    package let seen: Int
    /// Others who were reading then; the queue does not say what they hold.
    package let otherReaders: Int

    /// Whether nothing can be missing: another reader holds letters that nobody else sees meanwhile.
    package var isComplete: Bool { self.seen >= self.ready && self.otherReaders == 0 }

    init(_ letters: [DeadLetter], _ end: DeadLetterWalk.End) {
        self.letters = letters.sorted(by: Self.isLater)
        self.ready = end.ready
        self.seen = end.seen
        self.otherReaders = end.others
    }

    /// A total order, so that pages neither miss nor repeat a letter: by time of death, then by id. Those without a time
    /// come last.
    package static func isLater(_ left: DeadLetter, _ right: DeadLetter) -> Bool {
        let (leftTime, rightTime) = (left.diedAt?.milliseconds ?? .min, right.diedAt?.milliseconds ?? .min)
        return leftTime == rightTime ? left.id < right.id : leftTime > rightTime
    }
}
