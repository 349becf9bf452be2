/// One way in which a simulator misbehaves, and when.
package struct FaultRule: Equatable, Sendable {
    /// Which requests are hit. Every condition that is set must hold; one that is not set always does.
    package struct Match: Equatable, Sendable {
        package var topic: String?
        /// The beginning of the device token, hexadecimal digits in either case.
        package var tokenPrefix: String?
        /// The beginning of `:path`.
        package var pathPrefix: String?
        /// Connections are numbered from 1 in the order in which they open.
        package var connection: Int?
        /// The request's place on its connection, from 1.
        package var connectionRequest: Int?
        /// The time since the rule was added; an absent end is never.
        package var window: Range<Duration>?
        /// Only the n-th of the requests for which all of the above holds, from 1.
        package var nth: Int?
        /// Only each n-th of them.
        package var every: Int?
        /// From 0 to 1; drawn from the simulator's seed and the rule's place, one draw per request that got so far.
        package var probability: Double?
        /// The rule rests after so many hits.
        package var limit: Int?

        package init() {}
    }

    /// What happens to the request, its connection, or both.
    package enum Action: Equatable, Sendable {
        /// Nothing but the delay.
        case pass
        /// A status with `{"reason":…}`, or with `body` as it is.
        case answer(status: Int, reason: String?, body: String?)
        /// GOAWAY with `code` and `debugData`, then the connection closes once what it still owes is answered.
        case goAway(code: UInt32, debugData: String, lastStream: LastStream)
        /// RST_STREAM with `code`.
        case reset(code: UInt32)
        /// The connection ends with a TCP reset.
        case drop
        /// The connection ends with a FIN.
        case close
        /// Never an answer; the connection lives on.
        case stall
    }

    /// The last stream that GOAWAY says was, or might be, processed (RFC 9113 §6.8).
    package enum LastStream: Equatable, Sendable {
        /// The one of this request, which therefore is answered.
        case current
        case zero
        case stream(Int32)
    }

    /// Tells rules apart; an empty one is replaced by a number.
    package var id: String
    package var match: Match
    package var action: Action
    /// How long after the request's arrival it happens, on top of the simulator's latency: evenly spread between
    /// the bounds.
    package var delay: ClosedRange<Duration>?
    /// Whether the push is judged and, if good, accepted before the action; with `pass` it always is. For an action
    /// that loses the answer this is what makes a repeated push a duplicate.
    package var processes: Bool

    package init(
        id: String = "",
        match: Match = Match(),
        action: Action,
        delay: ClosedRange<Duration>? = nil,
        processes: Bool = false
    ) {
        self.id = id
        self.match = match
        self.action = action
        self.delay = delay
        self.processes = processes
    }
}

/// A rule and what became of it.
package struct FaultRuleUse: Equatable, Sendable {
    package var rule: FaultRule
    /// Requests for which its plain conditions held (all before `nth`).
    package var matched: Int
    /// Requests it was applied to.
    package var hits: Int
}
