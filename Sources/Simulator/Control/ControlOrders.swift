internal import Push

/// What `PUT /tokens/{token}` asks for.
struct TokenOrder: Equatable, Sendable {
    enum State: String, CaseIterable {
        case active, unregistered, expired
        case otherTopic = "other_topic"
        case otherEnvironment = "other_environment"
        /// Active again after it had been gone.
        case reregistered
    }

    let topic: String?
    /// The only environment that this is about; nil for both.
    let environment: APNsEnvironment?
    let state: State
    /// Milliseconds since 1970.
    let time: Int64?
    /// How long pushes are still accepted before a 410 shows; nil for the simulator's own delay.
    let reportDelay: Duration?

    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        try self.init(&fields)
        try fields.end()
    }

    /// Takes its fields and leaves the others, for whoever has more to say in the same object.
    init(_ fields: inout Fields) throws(BadField) {
        self.topic = try fields.string("topic")
        guard let state = try fields.choice("state", of: State.self) else {
            let states = State.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.error("state", "is required: one of \(states)")
        }
        self.state = state
        self.environment = try fields.choice("environment", of: APNsEnvironment.self)
        self.time = try fields.integer("at", in: 0...Int64(1) << 52)
        self.reportDelay = try fields.duration("shows_after_ms")
        if self.time != nil, state != .unregistered, state != .expired, state != .reregistered {
            throw fields.error("at", "goes with unregistered, expired and reregistered only")
        }
        if self.reportDelay != nil, state != .unregistered, state != .expired {
            throw fields.error("shows_after_ms", "goes with unregistered and expired only")
        }
    }

    /// Has the simulator know it.
    func apply(to token: [UInt8], of service: inout PushService, at now: UnixTime) {
        service.setToken(
            token,
            topic: self.topic.map { Array($0.utf8) },
            to: self.state(at: now),
            environment: self.environment,
            showsAt: self.reportDelay.map { now + $0 },
            at: now
        )
    }

    func state(at now: UnixTime) -> TokenState {
        let time = self.time.map { UnixTime(milliseconds: $0) } ?? now
        return switch self.state {
        case .active: .active
        case .reregistered: .reregistered(at: time)
        case .unregistered: .unregistered(at: time)
        case .expired: .expired(at: time)
        case .otherTopic: .otherTopic
        case .otherEnvironment: .otherEnvironment
        }
    }
}

extension ProviderKey {
    /// What `POST /keys` asks for.
    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        self.init(
            id: try fields.requiredString("id"),
            team: try fields.requiredString("team"),
            pem: try fields.requiredString("public_key"),
            environment: try fields.choice("environment", of: APNsEnvironment.self),
            topics: try fields.strings("topics"),
            related: try fields.string("related")
        )
        try fields.end()
    }
}

extension LedgerFilter {
    /// What `GET /ledger` asks for.
    init(query: consuming Query) throws(BadField) {
        var query = query
        self.init()
        self.limit = Int(try query.integer("limit", in: 1...10_000) ?? 100)
        self.token = query.string("token")
        if let token = self.token, Hex.decode(Array(token.utf8)) == nil {
            throw BadField(field: "token", problem: "must be an even number of hexadecimal digits")
        }
        self.topic = query.string("topic")
        self.channel = query.string("channel")
        self.apnsID = query.string("apns_id")
        if let id = self.apnsID, MessageID(Array(id.utf8)) == nil {
            throw BadField(field: "apns_id", problem: "must be a UUID")
        }
        self.status = try query.integer("status", in: 0...599).map { Int($0) }
        self.reason = query.string("reason")
        self.connection = try query.integer("connection", in: 1...Int64(Int32.max)).map { Int($0) }
        self.accepted = try query.bool("accepted")
        self.answered = try query.bool("answered")
        self.afterGone = try query.bool("after_gone")
        self.rule = query.string("rule")
        self.before = try query.integer("before", in: 1...Int64.max).map { UInt64($0) }
        try query.end()
    }
}
