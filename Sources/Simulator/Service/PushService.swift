internal import Push

/// APNs as a value: requests and times go in, what to do comes out. No I/O, no clock.
struct PushService: Sendable {
    struct Settings: Sendable {
        var providerTokens = ProviderTokenCheck.Settings()
        /// nil: any.
        var bundleIDs: Set<String>?
        var unknownTokens = UnknownTokens.accept
        var malformedBody = RequestCheck.MalformedBody.accept
        var streams = StreamLimit.Settings()
        /// Between a request's arrival and its answer.
        var latency: Duration = .zero
        var seed: UInt64 = 1
        var ledger = Ledger.Settings()
    }

    /// A time on both clocks.
    struct Moment {
        var wall: UnixTime
        var monotonic: MonotonicTime
    }

    let settings: Settings
    var latency: Duration
    private(set) var streams: StreamLimit.Settings
    private(set) var check: RequestCheck
    private(set) var faults: FaultRules
    private(set) var ledger: Ledger
    private(set) var log = ConnectionLog()
    /// Open connections by their place, which is used again when they are closed.
    private var connections: [Connection?] = []
    private var freePlaces: [Int] = []
    private var numberOfLast = 0
    private var random: SeededRandom

    init(settings: Settings) {
        self.settings = settings
        self.latency = settings.latency
        self.streams = settings.streams
        self.check = RequestCheck(
            topics: TopicRules(bundleIDs: settings.bundleIDs),
            malformedBody: settings.malformedBody,
            providerTokens: ProviderTokenCheck(settings: settings.providerTokens),
            tokens: TokenRegistry(unknown: settings.unknownTokens)
        )
        self.faults = FaultRules(seed: settings.seed)
        self.ledger = Ledger(settings: settings.ledger)
        self.random = SeededRandom(seed: Digest.mix(settings.seed))
    }

    // MARK: Connections

    /// A connection is ready for requests.
    /// - Returns: the place by which it is known until it closes.
    mutating func open(at now: UnixTime) -> Int {
        self.log.didOpen(at: now)
        self.numberOfLast += 1
        let connection = Connection(
            number: self.numberOfLast,
            openedAt: now.milliseconds,
            streamLimit: StreamLimit(settings: self.streams)
        )
        if let place = self.freePlaces.popLast() {
            self.connections[place] = connection
            return place
        }
        self.connections.append(connection)
        return self.connections.count - 1
    }

    mutating func close(_ place: Int, ending: String, at now: UnixTime) {
        guard let connection = self.connections[place] else { return }
        self.log.didClose(connection.record(closedAt: now.milliseconds, ending: ending))
        self.connections[place] = nil
        self.freePlaces.append(place)
    }

    /// What the connection has seen by now.
    mutating func note(_ traffic: ConnectionTraffic, on place: Int) {
        self.connections[place]?.traffic = traffic
    }

    func connection(_ place: Int) -> Connection? { self.connections[place] }

    // MARK: Requests

    /// Judges a request, lets the fault rules have their way with it, and writes it down.
    mutating func receive(_ request: PushRequest, stream: Int32, on place: Int, at now: Moment) -> Reaction {
        guard var connection = self.connections[place] else { preconditionFailure("a request on no connection") }
        // Taken out, so that changing it does not copy what it holds.
        self.connections[place] = nil
        defer { self.connections[place] = connection }
        connection.requests += 1
        connection.open += 1
        connection.peakOpen = max(connection.peakOpen, connection.open)
        let fault =
            self.faults.isEmpty
            ? nil
            : self.faults.fault(
                for: request,
                connection: connection.number,
                place: connection.requests,
                at: now.monotonic
            )
        var finding: RequestCheck.Finding?
        if fault?.isProcessed(stream) ?? true {
            let wasBound = connection.binding.key != nil
            finding = self.check.judge(request, binding: &connection.binding, at: now.wall)
            if !wasBound, let key = connection.binding.key { self.log.didBind(to: key.key) }
        }
        let id = request.messageID.value ?? self.makeID()
        let plan = self.plan(for: request, id: id, stream: stream, finding: finding, fault: fault)
        // A rule that says 200 by itself has the push accepted.
        let isAccepted = finding?.verdict.isAccepted ?? (plan.status == 200)
        if isAccepted { connection.accepted += 1 }
        let entry = self.ledger.record(
            Ledger.Arrival(
                request: request,
                messageID: id,
                connection: connection.number,
                stream: stream,
                time: now.wall,
                status: plan.status,
                reason: plan.reason,
                isAccepted: isAccepted,
                rule: fault?.number,
                providerToken: finding?.providerToken
            )
        )
        var streamLimit: UInt32?
        if plan.status != 0 || finding != nil {
            let wasGood = plan.status == 0 ? isAccepted : plan.status == 200
            streamLimit = connection.streamLimit.judged(
                isAuthorized: finding?.isAuthorized ?? false,
                isAccepted: wasGood
            )
        }
        return Reaction(
            entry: entry,
            deed: plan.deed,
            delay: fault.map { self.latency + $0.delay } ?? self.latency,
            streamLimit: streamLimit
        )
    }

    /// Writes down a request that became complete only after a GOAWAY had said that it would not be processed.
    /// - Returns: its number in the ledger.
    mutating func ignore(_ request: PushRequest, stream: Int32, on place: Int, at now: Moment) -> UInt64 {
        self.connections[place]?.requests += 1
        self.connections[place]?.open += 1
        let entry = self.ledger.record(
            Ledger.Arrival(
                request: request,
                messageID: request.messageID.value ?? self.makeID(),
                connection: self.connections[place]?.number ?? 0,
                stream: stream,
                time: now.wall,
                status: 0,
                reason: nil,
                isAccepted: false,
                rule: nil,
                providerToken: nil
            )
        )
        self.ledger.withdraw(entry)
        return entry
    }

    private mutating func makeID() -> MessageID {
        MessageID(high: self.random.next(), low: self.random.next())
    }

    /// A request's stream has ended: its answer was handed over, or it never will be.
    mutating func ended(_ entry: UInt64, on place: Int, isAnswered: Bool) {
        if isAnswered { self.ledger.answered(entry) }
        self.connections[place]?.open -= 1
    }

    /// A GOAWAY said that a request was not processed.
    mutating func withdraw(_ entry: UInt64) {
        self.ledger.withdraw(entry)
    }

    // MARK: What is done

    private struct Plan {
        var deed: Deed
        var status: UInt16
        var reason: String?
    }

    private func plan(
        for request: PushRequest,
        id: MessageID,
        stream: Int32,
        finding: RequestCheck.Finding?,
        fault: FaultRules.Fault?
    ) -> Plan {
        let isOwnID = request.messageID.value != nil
        var answer = Answer(status: 200, id: id, isOwnID: isOwnID, uniqueID: nil, body: [])
        if self.settings.providerTokens.environment == .sandbox {
            answer.uniqueID = MessageID(high: Digest.mix(id.high), low: Digest.mix(id.low))
        }
        var reason: String?
        if let verdict = finding?.verdict, let refusal = verdict.reason {
            answer.status = verdict.status
            answer.body = Self.body(refusal.rawValue, timestamp: verdict.timestamp)
            reason = refusal.rawValue
        }
        switch fault?.action {
        case nil, .pass?:
            return Plan(deed: .answer(answer), status: answer.status, reason: reason)
        case .answer(let status, let reason, let body)?:
            answer.status = UInt16(clamping: status)
            answer.body = body.map { Array($0.utf8) } ?? reason.map { Self.body($0, timestamp: nil) } ?? []
            return Plan(deed: .answer(answer), status: answer.status, reason: reason)
        case .goAway(let code, let debugData, let lastStream)?:
            let isAnswered = finding != nil && lastStream.covers(stream)
            let deed = Deed.goAway(
                lastStream: lastStream.number(for: stream),
                code: code,
                debugData: Array(debugData.utf8),
                answer: isAnswered ? answer : nil
            )
            return Plan(deed: deed, status: isAnswered ? answer.status : 0, reason: isAnswered ? reason : nil)
        case .reset(let code)?: return Plan(deed: .reset(code: code), status: 0)
        case .drop?: return Plan(deed: .drop, status: 0)
        case .close?: return Plan(deed: .close, status: 0)
        case .stall?: return Plan(deed: .stall, status: 0)
        }
    }

    private static func body(_ reason: String, timestamp: UnixTime?) -> [UInt8] {
        guard let timestamp else { return Array("{\"reason\":\"\(reason.jsonEscaped)\"}".utf8) }
        return Array("{\"reason\":\"\(reason.jsonEscaped)\",\"timestamp\":\(timestamp.milliseconds)}".utf8)
    }

    // MARK: Control

    /// Adds a key, or replaces the one with its id.
    mutating func addKey(_ key: ProviderKey) throws(ProviderKeyError) {
        try self.check.providerTokens.add(key)
    }

    mutating func revokeKey(_ id: String) -> Bool {
        self.check.providerTokens.revoke(id)
    }

    mutating func restoreKey(_ id: String) -> Bool {
        self.check.providerTokens.restore(id)
    }

    mutating func setToken(_ token: [UInt8], topic: [UInt8]?, to state: TokenState) {
        self.check.tokens.set(token, topic: topic, to: state)
        if state == .active { self.ledger.isBack(token, topic: topic) }
    }

    mutating func setUnknownTokens(_ unknown: UnknownTokens) {
        self.check.tokens.unknown = unknown
    }

    mutating func addRule(_ rule: FaultRule, at now: MonotonicTime) -> String? {
        self.faults.add(rule, at: now)
    }

    mutating func removeRule(_ id: String) -> Bool {
        self.faults.remove(id)
    }

    mutating func removeRules() {
        self.faults.removeAll()
    }

    /// - Returns: the places of the connections whose limit has changed, each with the new one.
    mutating func setStreams(_ settings: StreamLimit.Settings) -> [(place: Int, limit: UInt32)] {
        self.streams = settings
        return self.connections.indices.compactMap { place in
            self.connections[place]?.streamLimit.set(settings).map { (place, $0) }
        }
    }

    /// Forgets requests, rules and tokens, and goes back to the settings of the start; keys and connections stay.
    mutating func reset() -> [(place: Int, limit: UInt32)] {
        self.ledger.reset()
        self.log.reset()
        self.faults.removeAll()
        self.check.tokens.removeAll()
        self.check.tokens.unknown = self.settings.unknownTokens
        self.check.providerTokens.resetUses()
        self.latency = self.settings.latency
        return self.setStreams(self.settings.streams)
    }

    // MARK: Queries

    var summary: LedgerSummary {
        let totals = self.ledger.totals
        return LedgerSummary(
            requests: totals.requests,
            accepted: totals.accepted,
            answered: totals.answered,
            withdrawn: totals.withdrawn,
            repeated: totals.repeated,
            duplicates: totals.duplicates,
            afterGone: totals.afterGone,
            dropped: totals.dropped,
            tokens: self.ledger.tokens.chains.count,
            ids: self.ledger.ids.chains.count,
            verdicts: self.ledger.verdicts,
            connectionsOpened: self.log.opened,
            connectionsOpen: self.log.open,
            connectionsPeak: self.log.peak,
            connectionsByKey: self.log.byKey,
            connectionsByTeam: self.log.byTeam,
            connectionsPerMinute: self.log.minutes,
            traffic: self.connections.reduce(self.log.traffic) { $0 + ($1?.traffic ?? ConnectionTraffic()) },
            providerTokens: self.check.providerTokens.uses,
            ledgerBytes: self.ledger.footprint
        )
    }

    func records(_ filter: LedgerFilter) -> [LedgerRecord] {
        self.ledger.records(filter, ruleIDs: self.faults.ids)
    }

    func lastPush(to token: [UInt8], topic: [UInt8]?) -> LedgerRecord? {
        self.ledger.lastPush(to: token, topic: topic, ruleIDs: self.faults.ids)
    }

    /// The connections that are open, and of those that are closed the newest, in the order of opening.
    func connectionRecords(limit: Int) -> [ConnectionRecord] {
        let open = self.connections.compactMap { $0?.record() }
        let closed = self.log.closed.suffix(max(0, limit - open.count))
        return (closed + open).sorted { $0.number < $1.number }.suffix(limit)
    }
}

extension FaultRules.Fault {
    /// Whether a request that meets the fault on `stream` is judged, and accepted if it is good.
    fileprivate func isProcessed(_ stream: Int32) -> Bool {
        // A GOAWAY says itself what was processed: anything else would make the simulator a liar.
        if case .goAway(_, _, let lastStream) = self.action { return lastStream.covers(stream) }
        return self.processes
    }
}

extension FaultRule.LastStream {
    fileprivate func covers(_ stream: Int32) -> Bool { stream <= self.number(for: stream) }

    fileprivate func number(for stream: Int32) -> Int32 {
        switch self {
        case .current: stream
        case .zero: 0
        case .stream(let number): number
        }
    }
}
