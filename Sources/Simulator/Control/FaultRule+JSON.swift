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
        let delay = try fields.delay("delay_ms")
        let processes = try fields.bool("process") ?? false
        try fields.end()
        guard id.utf8.count <= 64, id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }) else {
            throw BadField(field: "id", problem: "must be at most 64 visible characters without /")
        }
        self.init(id: id, match: match ?? Match(), action: action, delay: delay, processes: processes)
    }

    var json: ControlValue {
        var object: [String: ControlValue] = [
            "id": .string(self.id), "match": self.match.json, "action": self.action.json,
            "process": .bool(self.processes),
        ]
        if let delay = self.delay {
            object["delay_ms"] =
                delay.lowerBound == delay.upperBound
                ? .integer(delay.lowerBound.milliseconds)
                : [.integer(delay.lowerBound.milliseconds), .integer(delay.upperBound.milliseconds)]
        }
        return .object(object)
    }
}

extension FaultRule.Match {
    fileprivate init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json, at: "match")
        self.init()
        self.topic = try fields.string("topic")
        self.tokenPrefix = try fields.string("token_prefix")
        if let prefix = self.tokenPrefix, !prefix.utf8.allSatisfy({ Hex.value(of: $0) != nil }) {
            throw fields.error("token_prefix", "must be hexadecimal digits")
        }
        self.pathPrefix = try fields.string("path")
        self.connection = try fields.integer("connection", in: Self.positive).map { Int($0) }
        self.connectionRequest = try fields.integer("connection_request", in: Self.positive).map { Int($0) }
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

    private static let positive: ClosedRange<Int64> = 1...Int64(Int32.max)
    /// 30 days.
    private static let longest: Int64 = 30 * 86_400_000
    /// More than any beginning and length together.
    private static let forever: Int64 = 3 * Self.longest
}

extension FaultRule.Action {
    private enum Kind: String, CaseIterable {
        case pass, answer, goaway, reset, drop, close, stall
    }

    fileprivate init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json, at: "action")
        guard let kind = try fields.choice("type", of: Kind.self) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.error("type", "is required: one of \(kinds)")
        }
        switch kind {
        case .pass: self = .pass
        case .answer:
            guard let status = try fields.integer("status", in: 200...599) else {
                throw fields.error("status", "is required: a whole number from 200 to 599")
            }
            let reason = try fields.string("reason")
            self = .answer(status: Int(status), reason: reason, body: try fields.string("body"))
        case .goaway:
            let goAway = try GoAwayOrder(&fields)
            self = .goAway(code: goAway.code, debugData: goAway.debugData, lastStream: goAway.lastStream)
        case .reset:
            self = .reset(code: try fields.errorCode("code") ?? 8)
        case .drop: self = .drop
        case .close: self = .close
        case .stall: self = .stall
        }
        try fields.end()
    }

    fileprivate var json: ControlValue {
        switch self {
        case .pass: return ["type": "pass"]
        case .answer(let status, let reason, let body):
            var object: [String: ControlValue] = ["type": "answer", "status": .integer(Int64(status))]
            object["reason"] = reason.map { .string($0) }
            object["body"] = body.map { .string($0) }
            return .object(object)
        case .goAway(let code, let debugData, let lastStream):
            let last: ControlValue =
                switch lastStream {
                case .current: "current"
                case .zero: "zero"
                case .stream(let number): .integer(Int64(number))
                }
            return [
                "type": "goaway", "code": .integer(Int64(code)), "debug_data": .string(debugData), "last_stream": last,
            ]
        case .reset(let code): return ["type": "reset", "code": .integer(Int64(code))]
        case .drop: return ["type": "drop"]
        case .close: return ["type": "close"]
        case .stall: return ["type": "stall"]
        }
    }
}

/// The fields of a GOAWAY: `reason` makes JSON debug data as Apple sends it, `debug_data` is sent as it is.
struct GoAwayOrder: Equatable, Sendable {
    var code: UInt32
    var debugData: String
    var lastStream: FaultRule.LastStream

    init(_ fields: inout Fields) throws(BadField) {
        let reason = try fields.string("reason")
        let text = try fields.string("debug_data")
        if reason != nil, text != nil { throw fields.error("debug_data", "cannot stand beside reason") }
        self.code = try fields.errorCode("code") ?? 0
        self.debugData = text ?? reason.map { "{\"reason\":\"\($0.jsonEscaped)\"}" } ?? ""
        switch fields.take("last_stream") {
        case nil, .string("current")?: self.lastStream = .current
        case .string("zero")?, .integer(0)?: self.lastStream = .zero
        case .integer(let number)? where (1...Int64(Int32.max)).contains(number):
            self.lastStream = .stream(Int32(number))
        default: throw fields.error("last_stream", "must be current, zero or a stream's number")
        }
    }
}

extension Fields {
    /// An HTTP/2 error code, by number or by name (RFC 9113 §7).
    mutating func errorCode(_ name: String) throws(BadField) -> UInt32? {
        switch self.take(name) {
        case nil: return nil
        case .integer(let number)? where (0...Int64(UInt32.max)).contains(number): return UInt32(number)
        case .string(let text)?:
            if let index = Self.errorCodes.firstIndex(of: text) { return UInt32(index) }
        default: break
        }
        throw self.error(
            name,
            "must be an HTTP/2 error code: a number, or one of \(Self.errorCodes.joined(separator: ", "))"
        )
    }

    private static let errorCodes = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
}
