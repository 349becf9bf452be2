/// One way in which a simulator misbehaves, and when.
package struct FaultRule: Equatable, Sendable {
    /// What a rule is asked about.
    package enum Occasion: String, CaseIterable, Sendable {
        /// A request is complete.
        case request
        /// A TCP connection has come in; nothing was said on it yet.
        case connect
    }

    /// Which requests or connections are hit. Every condition that is set must hold; one that is not set always does.
    package struct Match: Equatable, Sendable {
        package var topic: String?
        /// The beginning of the device token, hexadecimal digits in either case.
        package var tokenPrefix: String?
        /// The beginning of `:path`.
        package var pathPrefix: String?
        /// Connections are numbered from 1 in the order in which they open. On `connect`, it counts all that came in,
        /// also those that never opened.
        package var connection: Int?
        /// The request's place on its connection, from 1.
        package var connectionRequest: Int?
        /// Only requests that come on a connection on which, for so long, none had come.
        package var idle: Duration?
        /// The sender's address.
        package var source: String?
        /// The time since the rule was added; an absent end is never.
        package var window: Range<Duration>?
        /// Only the n-th of those for which all of the above holds, from 1.
        package var nth: Int?
        /// Only each n-th of them.
        package var every: Int?
        /// From 0 to 1; drawn from the simulator's seed and the rule's place, one draw for each that got so far.
        package var probability: Double?
        /// The rule rests after so many hits.
        package var limit: Int?

        package init() {}
    }

    /// Tells rules apart; an empty one is replaced by a number.
    package var id: String
    /// What the rule is asked about; see ``Action/occasions`` for what goes with which action.
    package var occasion: Occasion
    package var match: Match
    package var action: Action
    /// How long after the request's arrival it happens, on top of the simulator's latency. On `connect`: how late the
    /// TLS handshake begins, the SETTINGS come, or the connection is ended.
    package var delay: Latency?
    /// Whether the push is judged and, if good, accepted before the action; with `pass` and actions that do nothing
    /// to the request itself it always is. For an action that loses the answer this is what makes a repeated push a
    /// duplicate.
    package var processes: Bool

    /// - Parameter occasion: nil for the first that goes with the action.
    package init(
        id: String = "",
        on occasion: Occasion? = nil,
        match: Match = Match(),
        action: Action,
        delay: ClosedRange<Duration>? = nil,
        processes: Bool = false
    ) {
        self.id = id
        self.occasion = occasion ?? action.occasions[0]
        self.match = match
        self.action = action
        self.delay = delay.map { Latency($0) }
        self.processes = processes
    }
}

/// A rule and what became of it.
package struct FaultRuleUse: Equatable, Sendable {
    package var rule: FaultRule
    /// Requests or connections for which its plain conditions held (all before `nth`).
    package var matched: Int
    /// Requests or connections it was applied to.
    package var hits: Int
}
