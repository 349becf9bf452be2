package import Push

/// A worker's side of the fleet's pace: when it asks for a slot, and when it may dial.
///
/// Every dial takes one trip to Redis before it, and nothing polls: a slot is asked for when a dial is wanted, one at a
/// time, and what is answered says when. A slot that is not used soon lapses. While Redis is away there is nobody to
/// ask, and the worker's own pace alone counts.
package struct DialPace: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable {
        /// Dial now; a slot was used up.
        case dial
        /// Ask for a slot, then report with `answered` or `failed`.
        case ask
        /// Not yet: an answer is under way, or `wakeTime` has to come.
        case wait
    }

    private enum State: Hashable {
        case idle
        case asking
        case slot(from: MonotonicTime, until: MonotonicTime)
        case sentAway(until: MonotonicTime)
    }

    private var state = State.idle

    package init() {}

    /// A dial is wanted, and nothing else is against it.
    package mutating func wantsToDial(isRedisThere: Bool, at now: MonotonicTime) -> Verdict {
        guard isRedisThere else {
            self.state = .idle
            return .dial
        }
        switch self.state {
        case .asking: return .wait
        case .sentAway(let until) where now < until: return .wait
        case .slot(let from, let until) where now < until:
            guard now >= from else { return .wait }
            self.state = .idle
            return .dial
        case .idle, .sentAway, .slot:
            self.state = .asking
            return .ask
        }
    }

    /// - Parameter random: any number; spreads the requests of workers that were sent away together.
    package mutating func answered(_ answer: PaceAnswer, at now: MonotonicTime, random: UInt64) {
        guard self.state == .asking else { return }
        let time = now + answer.wait
        self.state =
            answer.hasSlot
            ? .slot(from: time, until: time + Self.life) : .sentAway(until: time + .milliseconds(Int64(random % 1000)))
    }

    /// There is no answer: nobody knows the fleet's pace, and one dial may go by the worker's own.
    package mutating func failed(at now: MonotonicTime) {
        guard self.state == .asking else { return }
        self.state = .slot(from: now, until: now + Self.life)
    }

    /// When a dial that is still wanted may go or may ask again; nil if only an answer brings that.
    package var wakeTime: MonotonicTime? {
        switch self.state {
        case .slot(let from, _): from
        case .sentAway(let until): until
        case .idle, .asking: nil
        }
    }

    /// How long a slot may be used from when it is due; covers a renewal of the lease that is under way just then.
    package static let life: Duration = .milliseconds(500)
}
