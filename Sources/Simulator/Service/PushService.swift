internal import Push
internal import Wire

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
        var latency = Latency.fixed(.zero)
        var checkOrder = CheckStep.allCases
        var goneReportDelay: Duration = .zero
        var tokenRate: TokenRate?
        var policy = ConnectionPolicy()
        var seed: UInt64 = 1
        var ledger = Ledger.Settings()
        /// Broadcast channels that one app may have.
        var channelLimit = 10_000
        var unknownChannelDeletion = RequestCheck.UnknownChannelDeletion.channelNotRegistered
    }

    typealias Moment = VirtualClock.Moment

    let settings: Settings
    var latency: Latency
    var policy: ConnectionPolicy
    var buckets: TokenBuckets
    private(set) var gate = ConnectGate()
    private(set) var streams: StreamLimit.Settings
    var check: RequestCheck
    private(set) var faults: FaultRules
    private(set) var ledger: Ledger
    private(set) var log = ConnectionLog()
    /// Open connections by their place, which is used again when they are closed.
    private(set) var connections: [Connection?] = []
    private var freePlaces: [Int] = []
    private var numberOfLast = 0
    /// Connections that came in, also those that never opened.
    private(set) var arrivals = 0
    private var random: SeededRandom

    init(settings: Settings) {
        self.settings = settings
        self.latency = settings.latency
        self.policy = settings.policy
        self.buckets = TokenBuckets(rate: settings.tokenRate)
        self.streams = settings.streams
        self.check = RequestCheck(
            topics: TopicRules(bundleIDs: settings.bundleIDs),
            malformedBody: settings.malformedBody,
            providerTokens: ProviderTokenCheck(settings: settings.providerTokens),
            tokens: TokenRegistry(unknown: settings.unknownTokens)
        )
        self.check.channels = ChannelRegistry(limit: settings.channelLimit)
        self.check.unknownChannelDeletion = settings.unknownChannelDeletion
        self.faults = FaultRules(seed: settings.seed)
        self.ledger = Ledger(settings: settings.ledger)
        self.random = SeededRandom(seed: Digest.mix(settings.seed))
        self.check.order = settings.checkOrder
        self.check.tokens.reportDelay = settings.goneReportDelay
    }

    /// Several changes in one.
    mutating func change(_ body: (inout PushService) -> Void) {
        body(&self)
    }

    // MARK: Connections

    /// What becomes of a connection that comes in.
    enum Welcome: Equatable {
        case refused(String)
        /// It may speak; with the fault that it meets, if any.
        case admitted(FaultRules.Fault?)
    }

    /// A TCP connection has come in.
    /// - Parameter open: how many are open or being made.
    mutating func arrive(from source: String, open: Int, at now: Moment) -> Welcome {
        self.arrivals += 1
        if let why = self.gate.admit(source, open: open, policy: self.policy, at: now.monotonic) {
            return .refused(why)
        }
        guard !self.faults.knowsNoConnects else { return .admitted(nil) }
        let fault = self.faults.fault(forConnection: self.arrivals, from: source, now: now.monotonic)
        if let fault { self.changeWorld(fault.action, from: source, at: now.monotonic) }
        return .admitted(fault)
    }

    /// A connection is ready for requests.
    /// - Parameters:
    ///   - fault: what it met as it came in.
    ///   - held: the stream limit that it keeps whatever is judged.
    /// - Returns: the place by which it is known until it closes.
    mutating func open(
        at now: Moment,
        from source: String = "",
        fault: FaultRules.Fault? = nil,
        held: UInt32? = nil
    ) -> Int {
        self.log.didOpen(at: now.wall)
        self.numberOfLast += 1
        var connection = Connection(
            number: self.numberOfLast,
            openedAt: now,
            source: source,
            streamLimit: StreamLimit(settings: self.streams, held: held)
        )
        if let fault, case .blackHole = fault.action { connection.hole = (fault.number, fault.processes) }
        if let place = self.freePlaces.popLast() {
            self.connections[place] = connection
            return place
        }
        self.connections.append(connection)
        return self.connections.count - 1
    }

    /// A connection has shown a certificate.
    mutating func present(_ certificate: Certificate, on place: Int, at now: Moment) -> CertificateOutcome {
        let environment = self.check.providerTokens.settings.environment
        switch ClientCertificateCheck.judge(certificate, for: environment, at: now.wall) {
        case .accepted(let client):
            self.connections[place]?.binding.certificate = client
            return .accepted(streamLimit: self.connections[place]?.streamLimit.authorize())
        case .refused(let reason):
            return .refused(debugData: "{\"reason\":\"\(reason.rawValue)\"}")
        }
    }

    /// Holds a connection's stream limit, or lets it go again.
    /// - Returns: the limit to announce, when it has changed.
    mutating func hold(_ limit: UInt32?, on place: Int) -> UInt32? {
        self.connections[place]?.streamLimit.hold(limit)
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
        let request = request.completed(by: connection.binding.certificate)
        // Taken out, so that changing it does not copy what it holds.
        self.connections[place] = nil
        defer { self.connections[place] = connection }
        let idle = connection.begin(at: now.monotonic)
        guard !connection.isWedged, connection.hole == nil else {
            return self.receiveUnserved(request, stream: stream, on: &connection, at: now)
        }
        var fault: FaultRules.Fault?
        if !self.faults.isEmpty {
            let place = FaultRules.Place(
                connection: connection.number,
                request: connection.requests,
                idle: idle,
                source: connection.binding.source
            )
            fault = self.faults.fault(for: request, at: place, now: now.monotonic)
            if let fault {
                self.changeWorld(fault.action, from: connection.binding.source, at: now.monotonic)
                if case .blackHole = fault.action { connection.hole = (fault.number, fault.processes) }
            }
        }
        let finding = fault?.isProcessed(stream) ?? true ? self.judge(request, on: &connection, at: now) : nil
        let id = request.messageID.value ?? self.makeID()
        var plan = self.plan(for: request, id: id, stream: stream, finding: finding, fault: fault)
        let isAccepted = finding?.verdict.isAccepted ?? (plan.status == 200)
        // A rule that says 200 by itself has the push accepted.
        if isAccepted { connection.accepted += 1 }
        let entry = self.write(
            request,
            id: id,
            stream: stream,
            on: connection,
            at: now,
            plan: plan,
            isAccepted: isAccepted,
            rule: fault?.number,
            providerToken: finding?.providerToken
        )
        var streamLimit: UInt32?
        if plan.status != 0 || finding != nil {
            let wasGood = plan.status == 0 ? isAccepted : plan.status == 200
            streamLimit = connection.streamLimit.judged(
                isAuthorized: finding?.isAuthorized ?? false,
                isAccepted: wasGood
            )
            if !wasGood { self.punish(&connection, finding: finding, plan: &plan, streamLimit: &streamLimit) }
        }
        var delay = self.latency.draw(from: &self.random)
        if let fault { delay += fault.delay }
        return Reaction(entry: entry, deed: plan.deed, delay: delay, streamLimit: streamLimit)
    }

    private mutating func judge(
        _ request: PushRequest,
        on connection: inout Connection,
        at now: Moment
    ) -> RequestCheck.Finding {
        let wasBound = connection.binding.key != nil
        let finding = self.check.judge(request, binding: &connection.binding, buckets: &self.buckets, at: now)
        if !wasBound, let key = connection.binding.key { self.log.didBind(to: key.key) }
        return finding
    }

    /// A request on a connection that says nothing any more, or serves nothing.
    private mutating func receiveUnserved(
        _ request: PushRequest,
        stream: Int32,
        on connection: inout Connection,
        at now: Moment
    ) -> Reaction {
        let finding = connection.hole?.processes == true ? self.judge(request, on: &connection, at: now) : nil
        let isAccepted = finding?.verdict.isAccepted ?? false
        if isAccepted { connection.accepted += 1 }
        let deed: Deed = connection.hole == nil ? .reset(code: Self.refusedStream, then: nil) : .stall
        let entry = self.write(
            request,
            id: request.messageID.value ?? self.makeID(),
            stream: stream,
            on: connection,
            at: now,
            plan: Plan(deed: deed, status: 0),
            isAccepted: isAccepted,
            rule: connection.hole?.rule,
            providerToken: finding?.providerToken
        )
        return Reaction(entry: entry, deed: deed, delay: .zero, streamLimit: nil)
    }

    /// What a refusal costs a connection.
    private func punish(
        _ connection: inout Connection,
        finding: RequestCheck.Finding?,
        plan: inout Plan,
        streamLimit: inout UInt32?
    ) {
        if finding?.verdict.reason == .expiredProviderToken, self.policy.wedgesAfterExpiredToken {
            connection.isWedged = true
            streamLimit = connection.streamLimit.hold(1) ?? streamLimit
        }
        guard let budget = self.policy.errorBudget else { return }
        connection.cost += self.policy.cost(status: plan.status, reason: plan.reason)
        if connection.cost > budget { plan.deed = .last(plan.deed, self.policy.overBudget) }
    }

    /// Does what a rule does to the simulator as a whole.
    private mutating func changeWorld(_ action: FaultRule.Action, from source: String, at now: MonotonicTime) {
        switch action {
        case .revokeKey(let id): _ = self.check.providerTokens.revoke(id)
        case .addBundleID(let id): self.check.topics = self.check.topics.adding(id)
        case .setEnvironment(let environment): self.check.providerTokens.settings.environment = environment
        case .blockConnects(let length): self.gate.block(source, until: now + length)
        default: break
        }
    }

    private mutating func write(
        _ request: PushRequest,
        id: MessageID,
        stream: Int32,
        on connection: Connection,
        at now: Moment,
        plan: Plan,
        isAccepted: Bool,
        rule: UInt16?,
        providerToken: Int?
    ) -> UInt64 {
        self.ledger.record(
            Ledger.Arrival(
                request: request,
                messageID: id,
                connection: connection.number,
                stream: stream,
                time: now.wall,
                status: plan.status,
                reason: plan.reason,
                isAccepted: isAccepted,
                rule: rule,
                providerToken: providerToken
            )
        )
    }

    private static let refusedStream: UInt32 = 7

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

    /// - Parameters:
    ///   - environment: the only one that this is about; nil for both.
    ///   - showsAt: from when on a 410 shows; nil for the usual delay after `now`.
    mutating func setToken(
        _ token: [UInt8],
        topic: [UInt8]?,
        to state: TokenState,
        environment: APNsEnvironment? = nil,
        showsAt: UnixTime? = nil,
        at now: UnixTime = UnixTime(milliseconds: 0)
    ) {
        self.check.tokens.set(token, topic: topic, to: state, environment: environment, showsAt: showsAt, at: now)
        switch state {
        case .active, .reregistered: self.ledger.isBack(token, topic: topic)
        case .unregistered, .expired, .otherTopic, .otherEnvironment: break
        }
    }

    /// For what concerns channels, see `Broadcast`.
    mutating func withCheck<Result>(_ body: (inout RequestCheck, inout SeededRandom) -> Result) -> Result {
        body(&self.check, &self.random)
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

    /// Forgets requests and connections that are closed; rules, tokens and settings stay.
    mutating func forgetRequests() {
        self.ledger.reset()
        self.log.reset()
        self.check.providerTokens.resetUses()
    }

    /// Forgets requests, rules and tokens, and goes back to the settings of the start; keys and connections stay.
    mutating func reset() -> [(place: Int, limit: UInt32)] {
        self.ledger.reset()
        self.log.reset()
        self.faults.removeAll()
        self.gate.reset()
        self.arrivals = 0
        self.policy = self.settings.policy
        self.buckets = TokenBuckets(rate: self.settings.tokenRate)
        self.check.tokens.removeAll()
        self.check.channels.removeAll()
        self.check.tokens.unknown = self.settings.unknownTokens
        self.check.tokens.reportDelay = self.settings.goneReportDelay
        self.check.topics = TopicRules(bundleIDs: self.settings.bundleIDs)
        self.check.malformedBody = self.settings.malformedBody
        self.check.order = self.settings.checkOrder
        self.check.providerTokens.settings = self.settings.providerTokens
        self.check.providerTokens.resetUses()
        self.latency = self.settings.latency
        return self.setStreams(self.settings.streams)
    }
}
