internal import Push

/// The rules in force, in their order; the first that fits a request is applied.
struct FaultRules: Sendable {
    /// What a request is up against.
    struct Fault: Equatable {
        /// Tells rules apart for as long as the simulator lives.
        var number: UInt16
        var action: FaultRule.Action
        var delay: Duration
        var processes: Bool
    }

    struct Active {
        let rule: FaultRule
        let number: UInt16
        let topic: [UInt8]?
        let tokenPrefix: [UInt8]?
        let pathPrefix: [UInt8]?
        let addedAt: MonotonicTime
        var random: SeededRandom
        var matched = 0
        var hits = 0
    }

    private let seed: UInt64
    private var active: [Active] = []
    /// By number, also of rules that are gone, because the ledger names them.
    private(set) var ids: [String] = []

    init(seed: UInt64) {
        self.seed = seed
    }

    var isEmpty: Bool { self.active.isEmpty }

    var uses: [FaultRuleUse] {
        self.active.map { FaultRuleUse(rule: $0.rule, matched: $0.matched, hits: $0.hits) }
    }

    /// Appends a rule; one with the same id is replaced where it stands, and counts from zero.
    /// - Returns: its id, or nil when there were too many rules already.
    mutating func add(_ rule: FaultRule, at now: MonotonicTime) -> String? {
        guard self.ids.count < Int(UInt16.max) else { return nil }
        let number = UInt16(self.ids.count)
        var rule = rule
        if rule.id.isEmpty { rule.id = self.freeID() }
        self.ids.append(rule.id)
        let active = Active(
            rule: rule,
            number: number,
            topic: rule.match.topic.map { Array($0.utf8) },
            tokenPrefix: rule.match.tokenPrefix.map { Array($0.lowercased().utf8) },
            pathPrefix: rule.match.pathPrefix.map { Array($0.utf8) },
            addedAt: now,
            // Each rule has numbers of its own, so that adding one does not change what another does.
            random: SeededRandom(seed: Digest.mix(self.seed) ^ UInt64(number))
        )
        if let index = self.active.firstIndex(where: { $0.rule.id == rule.id }) {
            self.active[index] = active
        } else {
            self.active.append(active)
        }
        return rule.id
    }

    private func freeID() -> String {
        var number = self.ids.count + 1
        while self.active.contains(where: { $0.rule.id == "rule-\(number)" }) { number += 1 }
        return "rule-\(number)"
    }

    /// - Returns: whether there was such a rule.
    mutating func remove(_ id: String) -> Bool {
        guard let index = self.active.firstIndex(where: { $0.rule.id == id }) else { return false }
        self.active.remove(at: index)
        return true
    }

    mutating func removeAll() {
        self.active.removeAll()
    }

    /// The fault that a request meets, if any.
    /// - Parameters:
    ///   - connection: its connection's number, from 1.
    ///   - place: its place on the connection, from 1.
    mutating func fault(
        for request: PushRequest,
        connection: Int,
        place: Int,
        at now: MonotonicTime
    ) -> Fault? {
        for index in self.active.indices {
            guard
                Self.holds(self.active[index], for: request, connection: connection, place: place, at: now)
            else { continue }
            self.active[index].matched += 1
            guard self.active[index].isDue() else { continue }
            self.active[index].hits += 1
            let active = self.active[index]
            return Fault(
                number: active.number,
                action: active.rule.action,
                delay: self.active[index].drawDelay(),
                processes: active.rule.processes || active.rule.action == .pass
            )
        }
        return nil
    }

    private static func holds(
        _ active: Active,
        for request: PushRequest,
        connection: Int,
        place: Int,
        at now: MonotonicTime
    ) -> Bool {
        let match = active.rule.match
        if let wanted = match.connection, wanted != connection { return false }
        if let wanted = match.connectionRequest, wanted != place { return false }
        if let window = match.window, !window.contains(now - active.addedAt) { return false }
        if let topic = active.topic, !request.topic.elementsEqual(topic) { return false }
        if let prefix = active.pathPrefix, !request.head[request.head.path].starts(with: prefix) { return false }
        if let prefix = active.tokenPrefix {
            guard case .device(let range) = request.target, range.count >= prefix.count else { return false }
            // The prefix is in lower case; 0x20 makes letters so and leaves digits alone.
            return zip(request.head[range], prefix).allSatisfy { $0 | 0x20 == $1 }
        }
        return true
    }
}

extension FaultRules.Active {
    /// Whether a request for which the conditions hold is one of those to be hit.
    fileprivate mutating func isDue() -> Bool {
        let match = self.rule.match
        if let limit = match.limit, self.hits >= limit { return false }
        if let nth = match.nth, self.matched != nth { return false }
        if let every = match.every, !self.matched.isMultiple(of: every) { return false }
        if let probability = match.probability { return self.random.unit() < probability }
        return true
    }

    fileprivate mutating func drawDelay() -> Duration {
        guard let range = self.rule.delay else { return .zero }
        guard range.lowerBound < range.upperBound else { return range.lowerBound }
        let span = range.upperBound.nanoseconds - range.lowerBound.nanoseconds
        return range.lowerBound + .nanoseconds(Int64(self.random.unit() * Double(span)))
    }
}
