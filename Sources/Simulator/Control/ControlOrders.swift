internal import Push

/// What `PUT /tokens/{token}` asks for.
struct TokenOrder: Equatable, Sendable {
    enum State: String, CaseIterable {
        case active, unregistered, expired
        case otherTopic = "other_topic"
        case otherEnvironment = "other_environment"
    }

    let topic: String?
    let state: State
    /// Milliseconds since 1970.
    let time: Int64?

    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        try self.init(&fields)
        try fields.end()
    }

    /// Takes what it knows and leaves the rest.
    init(_ fields: inout Fields) throws(BadField) {
        self.topic = try fields.string("topic")
        guard let state = try fields.choice("state", of: State.self) else {
            let states = State.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.error("state", "is required: one of \(states)")
        }
        self.state = state
        self.time = try fields.integer("at", in: 0...Int64(1) << 52)
        if self.time != nil, state != .unregistered, state != .expired {
            throw fields.error("at", "goes with unregistered and expired only")
        }
    }

    func state(at now: UnixTime) -> TokenState {
        let time = self.time.map { UnixTime(milliseconds: $0) } ?? now
        return switch self.state {
        case .active: .active
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

/// What `POST /settings` asks for; what is nil stays as it is.
struct SettingsOrder: Equatable, Sendable {
    private enum Unknown: String, CaseIterable {
        case accept, refuse
    }

    private let latency: Duration?
    private let initialStreams: UInt32?
    private let streams: UInt32?
    private let dropsStreams: Bool?
    private let unknownTokens: UnknownTokens?

    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        try self.init(&fields)
        try fields.end()
    }

    /// Takes what it knows and leaves the rest.
    init(_ fields: inout Fields) throws(BadField) {
        self.latency = try fields.integer("latency_ms", in: 0...3_600_000).map { .milliseconds($0) }
        self.initialStreams = try fields.integer("initial_streams", in: 1...100_000).map { UInt32($0) }
        self.streams = try fields.integer("streams", in: 1...100_000).map { UInt32($0) }
        self.dropsStreams = try fields.bool("drops_streams_after_rejection")
        self.unknownTokens = try fields.choice("unknown_tokens", of: UnknownTokens.self)
    }

    func apply(to server: Server) {
        if let latency = self.latency { server.service.latency = latency }
        if let unknownTokens = self.unknownTokens { server.service.setUnknownTokens(unknownTokens) }
        server.setStreams(
            initial: self.initialStreams,
            full: self.streams,
            dropsAfterRejection: self.dropsStreams
        )
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
        self.apnsID = query.string("apns_id")
        if let id = self.apnsID, MessageID(Array(id.utf8)) == nil {
            throw BadField(field: "apns_id", problem: "must be a UUID")
        }
        self.status = try query.integer("status", in: 0...599).map { Int($0) }
        self.reason = query.string("reason")
        self.connection = try query.integer("connection", in: 1...Int64(Int32.max)).map { Int($0) }
        self.accepted = try query.bool("accepted")
        self.answered = try query.bool("answered")
        self.before = try query.integer("before", in: 1...Int64.max).map { UInt64($0) }
        try query.end()
    }
}
