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
    /// How many of the rules are asked about requests, and how many about connections.
    private var count: (requests: Int, connects: Int) = (0, 0)
    /// By number, also of rules that are gone, because the ledger names them.
    private(set) var ids: [String] = []

    init(seed: UInt64) {
        self.seed = seed
    }

    /// Whether no rule is asked about requests.
    var isEmpty: Bool { self.count.requests == 0 }
    /// Whether no rule is asked about connections that come in.
    var knowsNoConnects: Bool { self.count.connects == 0 }

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
        self.recount()
        return rule.id
    }

    private mutating func recount() {
        let requests = self.active.count { $0.rule.occasion == .request }
        self.count = (requests, self.active.count - requests)
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
        self.recount()
        return true
    }

    mutating func removeAll() {
        self.active.removeAll()
        self.recount()
    }

    /// Where a request stands.
    struct Place {
        /// Its connection's number, from 1.
        var connection: Int
        /// Its place on the connection, from 1.
        var request: Int
        /// How long no request had come on the connection.
        var idle: Duration = .zero
        /// The sender's address.
        var source = ""
    }

    /// The fault that a request meets, if any.
    mutating func fault(for request: PushRequest, at place: Place, now: MonotonicTime) -> Fault? {
        for index in self.active.indices where self.active[index].rule.occasion == .request {
            let active = self.active[index]
            guard active.holds(on: place.connection, from: place.source, at: now),
                active.holds(for: request, at: place)
            else { continue }
            if let fault = self.active[index].hit() { return fault }
        }
        return nil
    }

    /// The fault that a connection meets as it comes in, if any.
    /// - Parameter number: its place among all that ever came in, from 1.
    mutating func fault(forConnection number: Int, from source: String, now: MonotonicTime) -> Fault? {
        for index in self.active.indices where self.active[index].rule.occasion == .connect {
            guard self.active[index].holds(on: number, from: source, at: now) else { continue }
            if let fault = self.active[index].hit() { return fault }
        }
        return nil
    }
}

extension FaultRules.Active {
    fileprivate func holds(on connection: Int, from source: String, at now: MonotonicTime) -> Bool {
        let match = self.rule.match
        if let wanted = match.connection, wanted != connection { return false }
        if let wanted = match.source, wanted != source { return false }
        return match.window?.contains(now - self.addedAt) ?? true
    }

    fileprivate func holds(for request: PushRequest, at place: FaultRules.Place) -> Bool {
        let match = self.rule.match
        if let wanted = match.connectionRequest, wanted != place.request { return false }
        if let least = match.idle, place.idle < least { return false }
        if let topic = self.topic, !request.topic.elementsEqual(topic) { return false }
        if let prefix = self.pathPrefix, !request.head[request.head.path].starts(with: prefix) { return false }
        if let prefix = self.tokenPrefix {
            guard case .device(let range) = request.target, range.count >= prefix.count else { return false }
            // The prefix is in lower case; 0x20 makes letters so and leaves digits alone.
            return zip(request.head[range], prefix).allSatisfy { $0 | 0x20 == $1 }
        }
        return true
    }

    /// Counts one for which the conditions hold.
    /// - Returns: the fault, when it is one of those to be hit.
    fileprivate mutating func hit() -> FaultRules.Fault? {
        self.matched += 1
        guard self.isDue() else { return nil }
        self.hits += 1
        return FaultRules.Fault(
            number: self.number,
            action: self.rule.action,
            delay: self.rule.delay?.draw(from: &self.random) ?? .zero,
            processes: self.rule.processes || self.rule.action.leavesRequestAlone
        )
    }

    /// Whether it is one of those to be hit.
    private mutating func isDue() -> Bool {
        let match = self.rule.match
        if let limit = match.limit, self.hits >= limit { return false }
        if let nth = match.nth, self.matched != nth { return false }
        if let every = match.every, !self.matched.isMultiple(of: every) { return false }
        if let probability = match.probability { return self.random.unit() < probability }
        return true
    }
}
