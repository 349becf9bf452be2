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
    var gate = ConnectGate()
    private(set) var streams: StreamLimit.Settings
    var check: RequestCheck
    var faults: FaultRules
    var ledger: Ledger
    var log = ConnectionLog()
    var connections = ConnectionTable()
    /// Connections that came in, also those that never opened.
    private(set) var arrivals = 0
    var random: SeededRandom

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
        var connection = Connection(
            number: self.connections.nextNumber,
            openedAt: now,
            source: source,
            streamLimit: StreamLimit(settings: self.streams, held: held)
        )
        if let fault, case .blackHole = fault.action { connection.hole = (fault.number, fault.processes) }
        return self.connections.add(connection)
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
        guard let connection = self.connections.remove(place) else { return }
        self.log.didClose(connection.record(closedAt: now.milliseconds, ending: ending))
    }

    /// What the connection has seen by now.
    mutating func note(_ traffic: ConnectionTraffic, on place: Int) {
        self.connections[place]?.traffic = traffic
    }

    func connection(_ place: Int) -> Connection? { self.connections[place] }

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
        return self.connections.places.compactMap { place in
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
