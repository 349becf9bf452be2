internal import Push

/// What `GET /status` answers.
struct ControlStatus: Codable, Equatable, Sendable {
    var port: Int
    var environment: APNsEnvironment
    var keys: [String]
    var rules: Int
    var connections: Int
    var requests: Int
    /// The least, and the most that it may be.
    var latencyMs: Int
    var latencyMostMs: Int
    var initialStreams: Int
    var streams: Int
    var dropsStreamsAfterRejection: Bool
    var unknownTokens: String
    var overflow: String
    var listens: Bool
    /// Milliseconds since 1970, by the simulator's clock; and the seconds that pass for it in each.
    var nowMs: Int64
    var clockScale: Double
    /// What is off is left out.
    var idleTimeoutMs: Int64?
    var errorBudget: Int?
    var connectLimit: Int?
    var maxConnections: Int?
    var tokenBurst: Int?
    var wedgesAfterExpiredToken: Bool
    var checkOrder: [String]

    init(_ server: Server) {
        let service = server.service
        self.port = Int(server.ports.pushes)
        self.environment = service.check.providerTokens.settings.environment
        self.keys = service.check.providerTokens.keyIDs
        self.rules = service.faults.uses.count
        self.connections = service.log.open
        self.requests = service.ledger.totals.requests
        self.latencyMs = Int(service.latency.bounds.lowerBound.milliseconds)
        self.latencyMostMs = Int(service.latency.bounds.upperBound.milliseconds)
        self.initialStreams = Int(service.streams.initial)
        self.streams = Int(service.streams.full)
        self.dropsStreamsAfterRejection = service.streams.dropsAfterRejection
        self.unknownTokens = service.check.tokens.unknown.rawValue
        self.overflow = server.overflow.rawValue
        self.listens = server.listens
        self.nowMs = server.moment.wall.milliseconds
        self.clockScale = server.clock.scale
        self.idleTimeoutMs = service.policy.idleTimeout?.milliseconds
        self.errorBudget = service.policy.errorBudget
        self.connectLimit = service.policy.connectLimit
        self.maxConnections = service.policy.maxConnections
        self.tokenBurst = service.buckets.rate?.burst
        self.wedgesAfterExpiredToken = service.policy.wedgesAfterExpiredToken
        self.checkOrder = service.check.order.map(\.rawValue)
    }
}

/// What is known of one device token.
struct TokenReport: Codable, Equatable, Sendable {
    struct Registration: Codable, Equatable, Sendable {
        /// nil: any.
        var topic: String?
        var state: String
        /// Milliseconds since 1970.
        var at: Int64?
        /// nil: both.
        var environment: APNsEnvironment?
        /// From when on a 410 shows; nil: at once.
        var showsAt: Int64?
    }

    var token: String
    var registrations: [Registration]
    /// Requests for it, of those that the ledger keeps, and how many of them were accepted.
    var requests: Int
    var accepted: Int

    init(_ service: PushService, token: [UInt8]) {
        self.token = Hex.encode(token)
        self.registrations = service.check.tokens.registrations(of: token).map { registration in
            let (state, time) = registration.state.parts
            return Registration(
                topic: registration.topic.map { String(decoding: $0, as: UTF8.self) },
                state: state.rawValue,
                at: time,
                environment: registration.environment,
                showsAt: registration.showsAt?.milliseconds
            )
        }
        let chain = service.ledger.tokens.chains[Digest.of(token)]
        self.requests = Int(chain?.sent ?? 0)
        self.accepted = Int(chain?.accepted ?? 0)
    }
}

extension TokenState {
    fileprivate var parts: (TokenOrder.State, Int64?) {
        switch self {
        case .active: (.active, nil)
        case .reregistered(let time): (.reregistered, time.milliseconds)
        case .unregistered(let time): (.unregistered, time.milliseconds)
        case .expired(let time): (.expired, time.milliseconds)
        case .otherTopic: (.otherTopic, nil)
        case .otherEnvironment: (.otherEnvironment, nil)
        }
    }
}

extension FaultRuleUse {
    var json: ControlValue {
        guard case .object(var object) = self.rule.json else { return self.rule.json }
        object["matched"] = .integer(Int64(self.matched))
        object["hits"] = .integer(Int64(self.hits))
        return .object(object)
    }
}
