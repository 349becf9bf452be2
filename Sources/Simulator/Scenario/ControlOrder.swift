internal import Push

/// One thing that a simulator is told to do: what a control request asks for, and what a scenario's step says.
enum ControlOrder: Equatable, Sendable {
    case addRule(FaultRule)
    case removeRule(String)
    case removeRules
    case setTokens([[UInt8]], TokenOrder)
    case addKey(ProviderKey)
    /// nil: every key.
    case revokeKey(String?)
    case restoreKey(String?)
    case settings(SettingsOrder)
    case clock(ClockOrder)
    case goAway(GoAwayOrder)
    case drop

    /// The words by which scenarios name them.
    enum Name: String, CaseIterable, Sendable {
        case addRule = "add_rule"
        case removeRule = "remove_rule"
        case removeRules = "remove_rules"
        case setToken = "set_token"
        case addKey = "add_key"
        case revokeKey = "revoke_key"
        case restoreKey = "restore_key"
        case settings, clock
        case goAway = "goaway"
        case drop
    }

    init(_ name: Name, json: ControlValue) throws(BadField) {
        switch name {
        case .addRule: self = .addRule(try FaultRule(json: json))
        case .removeRule: self = .removeRule(try Self.word(json, "the id of a rule"))
        case .removeRules:
            try Self.nothing(json)
            self = .removeRules
        case .setToken: self = try Self.tokens(json)
        case .addKey: self = .addKey(try ProviderKey(json: json))
        case .revokeKey: self = .revokeKey(try Self.key(json))
        case .restoreKey: self = .restoreKey(try Self.key(json))
        case .settings: self = .settings(try SettingsOrder(json: json))
        case .clock: self = .clock(try ClockOrder(json: json))
        case .goAway:
            var fields = try Fields(json == .null ? .object([:]) : json)
            var goAway = try GoAwayOrder(&fields)
            try fields.end()
            if goAway.debugData.isEmpty { goAway.debugData = "{\"reason\":\"Shutdown\"}" }
            self = .goAway(goAway)
        case .drop:
            try Self.nothing(json)
            self = .drop
        }
    }

    var name: Name {
        switch self {
        case .addRule: .addRule
        case .removeRule: .removeRule
        case .removeRules: .removeRules
        case .setTokens: .setToken
        case .addKey: .addKey
        case .revokeKey: .revokeKey
        case .restoreKey: .restoreKey
        case .settings: .settings
        case .clock: .clock
        case .goAway: .goAway
        case .drop: .drop
        }
    }

    /// Carries it out.
    /// - Returns: why that had no effect; nil when it had.
    func apply(to server: Server) -> String? {
        switch self {
        case .addRule(let rule):
            if let problem = server.problem(with: rule) { return "\(problem.field) \(problem.problem)" }
            return server.addRule(rule) == nil ? "too many rules since the start" : nil
        case .removeRule(let id):
            return server.service.removeRule(id) ? nil : "there is no rule \(id)"
        case .removeRules: server.service.removeRules()
        case .setTokens(let tokens, let order):
            let now = server.moment.wall
            for token in tokens { order.apply(to: token, of: &server.service, at: now) }
        case .addKey(let key):
            do throws(ProviderKeyError) {
                try server.service.addKey(key)
            } catch {
                return error.description
            }
        case .revokeKey(let id):
            let known = server.service.check.providerTokens.keyIDs
            let wanted = id.map { [$0] } ?? known
            if wanted.isEmpty { return "there are no keys" }
            for id in wanted where !server.service.revokeKey(id) { return "there is no key \(id)" }
        case .restoreKey(let id):
            let wanted = id.map { [$0] } ?? server.service.check.providerTokens.revokedIDs
            for id in wanted where !server.service.restoreKey(id) { return "\(id) was not revoked" }
        case .settings(let order): order.apply(to: server)
        case .clock(let order): order.apply(to: server)
        case .goAway(let order):
            _ = server.goAwayAll(code: order.code, debugData: order.debugData, lastStream: order.lastStream)
        case .drop: _ = server.dropAll()
        }
        return nil
    }

    // MARK: Decoding

    private static func word(_ json: ControlValue, _ what: String) throws(BadField) -> String {
        guard case .string(let text) = json, !text.isEmpty else {
            throw BadField(field: "", problem: "must be \(what), not \(json.kind)")
        }
        return text
    }

    /// A key's id; nil for all of them.
    private static func key(_ json: ControlValue) throws(BadField) -> String? {
        let id = try self.word(json, "the id of a key, or all")
        return id == "all" ? nil : id
    }

    private static func nothing(_ json: ControlValue) throws(BadField) {
        guard json != .null, json != .bool(true) else { return }
        try Fields(json).end()
    }

    /// `token`, or a list of `tokens`, beside the fields of `PUT /tokens/{token}`.
    private static func tokens(_ json: ControlValue) throws(BadField) -> Self {
        var fields = try Fields(json)
        let one = try fields.string("token")
        let many = try fields.strings("tokens") ?? []
        if one != nil, !many.isEmpty { throw fields.error("tokens", "cannot stand beside token") }
        let order = try TokenOrder(&fields)
        try fields.end()
        let texts = one.map { [$0] } ?? many
        if texts.isEmpty { throw fields.error("token", "is required: hexadecimal digits") }
        var tokens: [[UInt8]] = []
        for text in texts {
            guard let token = Hex.decode(Array(text.utf8)), !token.isEmpty else {
                throw fields.error(
                    one == nil ? "tokens" : "token",
                    "must be an even number of hexadecimal digits, not \(text.prefix(16))"
                )
            }
            tokens.append(token)
        }
        return .setTokens(tokens, order)
    }
}
