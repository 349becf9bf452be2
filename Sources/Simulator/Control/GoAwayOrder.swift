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
