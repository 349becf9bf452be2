internal import Push

/// What `POST /settings` asks for; what is nil stays as it is. Where a number may be switched off, 0 does so.
struct SettingsOrder: Equatable, Sendable {
    private enum MalformedBody: String, CaseIterable {
        case accept, refuse
    }

    private var latency: Latency?
    private var initialStreams: UInt32?
    private var streams: UInt32?
    private var dropsStreams: Bool?
    private var overflow: StreamOverflow?
    private var windows = FaultRule.SettingsForm()
    private var unknownTokens: UnknownTokens?
    private var goneReportDelay: Duration?
    private var malformedBody: MalformedBody?
    private var checkOrder: [CheckStep]?
    private var environment: APNsEnvironment?
    private var spelling: EnvironmentKeySpelling?
    private var tokenAge: Duration?
    private var tokenInterval: Duration?
    private var tokenScope: ProviderTokenScope?
    private var bundleIDs: Set<String>??
    private var tokenBurst: Int?
    private var tokenPerSecond: Double?
    private var policy = PolicyOrder()
    private var listens: Bool?

    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        try self.init(&fields)
        try fields.end()
    }

    /// Takes its fields and leaves the others, for whoever has more to say in the same object.
    init(_ fields: inout Fields) throws(BadField) {
        self.latency = try fields.latency("latency_ms")
        self.initialStreams = try fields.integer("initial_streams", in: 1...100_000).map { UInt32($0) }
        self.streams = try fields.integer("streams", in: 1...100_000).map { UInt32($0) }
        self.dropsStreams = try fields.bool("drops_streams_after_rejection")
        self.overflow = try fields.choice("overflow", of: StreamOverflow.self)
        self.windows.window = try fields.integer("window", in: 0...0x7fff_ffff).map { UInt32($0) }
        self.windows.connectionWindow = try fields.integer("connection_window", in: 0...0x7fff_ffff).map { UInt32($0) }
        self.windows.updatesWindows = try fields.bool("window_updates")
        self.unknownTokens = try fields.choice("unknown_tokens", of: UnknownTokens.self)
        self.goneReportDelay = try fields.longDuration("gone_report_delay_ms")
        self.malformedBody = try fields.choice("malformed_body", of: MalformedBody.self)
        self.checkOrder = try fields.checkOrder("check_order")
        self.environment = try fields.choice("environment", of: APNsEnvironment.self)
        self.spelling = try fields.choice("environment_key_reason", of: EnvironmentKeySpelling.self)
        self.tokenAge = try fields.longDuration("provider_token_age_ms")
        self.tokenInterval = try fields.longDuration("provider_token_interval_ms")
        self.tokenScope = try fields.choice("provider_token_scope", of: ProviderTokenScope.self)
        self.bundleIDs = try fields.bundleIDs("bundle_ids")
        self.tokenBurst = try fields.count("token_burst")
        self.tokenPerSecond = try fields.number("token_rate", in: 0...1_000_000)
        self.policy = try PolicyOrder(&fields)
        self.listens = try fields.bool("listens")
    }

    func apply(to server: Server) {
        server.service.change { service in
            if let latency = self.latency { service.latency = latency }
            if let unknownTokens = self.unknownTokens { service.setUnknownTokens(unknownTokens) }
            self.apply(to: &service.check)
            self.policy.apply(to: &service.policy)
            if let burst = self.tokenBurst {
                let perSecond = service.buckets.rate?.perSecond ?? TokenRate().perSecond
                service.buckets.rate = burst == 0 ? nil : TokenRate(burst: burst, perSecond: perSecond)
            }
            if let perSecond = self.tokenPerSecond, service.buckets.rate != nil {
                service.buckets.rate?.perSecond = perSecond
            }
        }
        if let overflow = self.overflow { server.overflow = overflow }
        server.windows = server.windows.changed(by: self.windows)
        server.setStreams(
            initial: self.initialStreams,
            full: self.streams,
            dropsAfterRejection: self.dropsStreams
        )
        server.policyHasChanged()
        if let listens = self.listens { server.listens = listens }
    }

    private func apply(to check: inout RequestCheck) {
        if let delay = self.goneReportDelay { check.tokens.reportDelay = delay }
        if let body = self.malformedBody { check.malformedBody = body == .accept ? .accept : .refuse }
        if let order = self.checkOrder { check.order = order }
        if let environment = self.environment { check.providerTokens.settings.environment = environment }
        if let spelling = self.spelling { check.providerTokens.settings.spelling = spelling }
        if let age = self.tokenAge { check.providerTokens.settings.maximumAge = age }
        if let interval = self.tokenInterval { check.providerTokens.settings.updateInterval = interval }
        if let scope = self.tokenScope { check.providerTokens.settings.updateScope = scope }
        if let bundleIDs = self.bundleIDs { check.topics = TopicRules(bundleIDs: bundleIDs) }
    }
}

/// The fields of settings that are about connections.
private struct PolicyOrder: Equatable, Sendable {
    private var idleTimeout: Duration?
    private var errorBudget: Int?
    private var badDeviceTokenCost: Int?
    private var overBudget: ConnectionPolicy.OverBudget?
    private var connectLimit: Int?
    private var connectWindow: Duration?
    private var connectBlock: Duration?
    private var maxConnections: Int?
    private var wedges: Bool?

    init() {}

    init(_ fields: inout Fields) throws(BadField) {
        self.idleTimeout = try fields.longDuration("idle_timeout_ms")
        self.errorBudget = try fields.count("error_budget")
        self.badDeviceTokenCost = try fields.count("bad_device_token_cost")
        self.overBudget = try fields.choice("over_error_budget", of: ConnectionPolicy.OverBudget.self)
        self.connectLimit = try fields.count("connect_limit")
        self.connectWindow = try fields.longDuration("connect_window_ms")
        self.connectBlock = try fields.longDuration("connect_block_ms")
        self.maxConnections = try fields.count("max_connections")
        self.wedges = try fields.bool("wedges_after_expired_token")
    }

    func apply(to policy: inout ConnectionPolicy) {
        if let timeout = self.idleTimeout { policy.idleTimeout = timeout > .zero ? timeout : nil }
        if let budget = self.errorBudget { policy.errorBudget = budget > 0 ? budget : nil }
        if let cost = self.badDeviceTokenCost { policy.badDeviceTokenCost = cost }
        if let overBudget = self.overBudget { policy.overBudget = overBudget }
        if let limit = self.connectLimit { policy.connectLimit = limit > 0 ? limit : nil }
        if let window = self.connectWindow { policy.connectWindow = window }
        if let block = self.connectBlock { policy.connectBlock = block }
        if let most = self.maxConnections { policy.maxConnections = most > 0 ? most : nil }
        if let wedges = self.wedges { policy.wedgesAfterExpiredToken = wedges }
    }
}

extension Fields {
    fileprivate mutating func count(_ name: String) throws(BadField) -> Int? {
        try self.integer(name, in: 0...1_000_000_000).map { Int($0) }
    }

    /// Whole milliseconds, up to a year.
    fileprivate mutating func longDuration(_ name: String) throws(BadField) -> Duration? {
        try self.integer(name, in: 0...366 * 86_400_000).map { .milliseconds($0) }
    }

    /// Every step once.
    fileprivate mutating func checkOrder(_ name: String) throws(BadField) -> [CheckStep]? {
        guard let texts = try self.strings(name) else { return nil }
        let steps = texts.compactMap { CheckStep(rawValue: $0) }
        guard steps.count == texts.count, steps.count == CheckStep.allCases.count, Set(steps).count == steps.count
        else {
            let known = CheckStep.allCases.map(\.rawValue).joined(separator: ", ")
            throw self.error(name, "must name each of these once: \(known)")
        }
        return steps
    }

    /// A list, or `any`.
    fileprivate mutating func bundleIDs(_ name: String) throws(BadField) -> Set<String>?? {
        switch self.take(name) {
        case nil: return nil
        case .string("any")?: return .some(nil)
        case .array(let values)?:
            var ids: Set<String> = []
            for value in values {
                guard case .string(let id) = value, !id.isEmpty else { break }
                ids.insert(id)
            }
            if ids.count == values.count { return ids }
        default: break
        }
        throw self.error(name, "must be any, or an array of bundle ids that are all different")
    }
}

extension FaultRule.SettingsForm {
    /// These values with those of `other` over them.
    func changed(by other: Self) -> Self {
        var form = self
        form.streams = other.streams ?? form.streams
        form.window = other.window ?? form.window
        form.connectionWindow = other.connectionWindow ?? form.connectionWindow
        form.updatesWindows = other.updatesWindows ?? form.updatesWindows
        form.isSent = form.isSent && other.isSent
        return form
    }
}
