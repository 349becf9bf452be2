internal import Push

/// A fault rule as it is written in control requests and answers.
extension FaultRule {
    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        let id = try fields.string("id") ?? ""
        let match = try fields.take("match").map { value throws(BadField) in try Match(json: value) }
        guard let value = fields.take("action") else {
            throw fields.error("action", "is required: an object with a type")
        }
        let action = try Action(json: value)
        let occasion = try fields.choice("on", of: Occasion.self) ?? action.occasions[0]
        guard action.occasions.contains(occasion) else {
            let allowed = action.occasions.map(\.rawValue).joined(separator: ", ")
            throw fields.error("on", "must be \(allowed) for this action")
        }
        let delay = try fields.latency("delay_ms")
        let processes = try fields.bool("process") ?? false
        try fields.end()
        if occasion == .connect, let name = match?.requestField {
            throw BadField(field: "match.\(name)", problem: "is not known yet when a connection comes in")
        }
        if occasion == .request, let name = action.connectField {
            throw BadField(field: "action.\(name)", problem: "goes with \"on\": \"connect\" only")
        }
        guard id.utf8.count <= 64, id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }) else {
            throw BadField(field: "id", problem: "must be at most 64 visible characters without /")
        }
        self.init(id: id, on: occasion, match: match ?? Match(), action: action, processes: processes)
        self.delay = delay
    }

    var json: ControlValue {
        var object: [String: ControlValue] = [
            "id": .string(self.id), "match": self.match.json, "action": self.action.json,
            "process": .bool(self.processes), "on": .string(self.occasion.rawValue),
        ]
        object["delay_ms"] = self.delay?.json
        return .object(object)
    }
}

extension FaultRule.Match {
    fileprivate init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json, at: "match")
        self.init()
        self.topic = try fields.string("topic")
        self.tokenPrefix = try fields.string("token_prefix")
        if let prefix = self.tokenPrefix, !prefix.utf8.allSatisfy({ Hex.value($0) != nil }) {
            throw fields.error("token_prefix", "must be hexadecimal digits")
        }
        self.pathPrefix = try fields.string("path")
        self.connection = try fields.integer("connection", in: Self.positive).map { Int($0) }
        self.connectionRequest = try fields.integer("connection_request", in: Self.positive).map { Int($0) }
        self.idle = try fields.integer("idle_ms", in: 1...Self.longest).map { .milliseconds($0) }
        self.source = try fields.string("source")
        self.nth = try fields.integer("nth", in: Self.positive).map { Int($0) }
        self.every = try fields.integer("every", in: Self.positive).map { Int($0) }
        self.probability = try fields.number("probability", in: 0...1)
        self.limit = try fields.integer("max", in: Self.positive).map { Int($0) }
        let after = try fields.integer("after_ms", in: 0...Self.longest)
        let length = try fields.integer("for_ms", in: 1...Self.longest)
        try fields.end()
        if after != nil || length != nil {
            let start = Duration.milliseconds(after ?? 0)
            self.window = start..<(length.map { start + .milliseconds($0) } ?? .milliseconds(Self.forever))
        }
    }

    fileprivate var json: ControlValue {
        var object: [String: ControlValue] = [:]
        object["topic"] = self.topic.map { .string($0) }
        object["token_prefix"] = self.tokenPrefix.map { .string($0) }
        object["path"] = self.pathPrefix.map { .string($0) }
        object["connection"] = self.connection.map { .integer(Int64($0)) }
        object["connection_request"] = self.connectionRequest.map { .integer(Int64($0)) }
        object["idle_ms"] = self.idle.map { .integer($0.milliseconds) }
        object["source"] = self.source.map { .string($0) }
        object["nth"] = self.nth.map { .integer(Int64($0)) }
        object["every"] = self.every.map { .integer(Int64($0)) }
        object["probability"] = self.probability.map { .number($0) }
        object["max"] = self.limit.map { .integer(Int64($0)) }
        if let window = self.window {
            object["after_ms"] = .integer(window.lowerBound.milliseconds)
            let length = (window.upperBound - window.lowerBound).milliseconds
            if window.upperBound.milliseconds < Self.forever { object["for_ms"] = .integer(length) }
        }
        return .object(object)
    }

    /// A condition that only a request can meet.
    fileprivate var requestField: String? {
        if self.topic != nil { return "topic" }
        if self.tokenPrefix != nil { return "token_prefix" }
        if self.pathPrefix != nil { return "path" }
        if self.connectionRequest != nil { return "connection_request" }
        return self.idle == nil ? nil : "idle_ms"
    }

    private static let positive: ClosedRange<Int64> = 1...Int64(Int32.max)
    /// 30 days.
    private static let longest: Int64 = 30 * 86_400_000
    /// More than any beginning and length together.
    private static let forever: Int64 = 3 * Self.longest
}
