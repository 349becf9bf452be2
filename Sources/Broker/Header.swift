package import Push

/// One entry of a message's header table, or one argument of a queue or exchange.
package struct Header: Hashable, Sendable {
    /// At most 255 bytes.
    package var name: String
    package var value: HeaderValue

    package init(_ name: String, _ value: HeaderValue) {
        self.name = name
        self.value = value
    }
}

/// The kinds of AMQP field values that we write and show.
package indirect enum HeaderValue: Hashable, Sendable {
    case string(String)
    case integer(Int64)
    case bool(Bool)
    case double(Double)
    /// AMQP keeps whole seconds.
    case timestamp(UnixTime)
    case array([HeaderValue])
    case table([Header])
    case none
    /// Of a kind, size or depth that is not read.
    case unread
}

extension HeaderValue: CustomStringConvertible {
    package var description: String {
        switch self {
        case .string(let string): string
        case .integer(let number): String(number)
        case .bool(let bool): String(bool)
        case .double(let number): String(number)
        case .timestamp(let time): String(time.seconds)
        case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
        case .table(let entries): "{" + entries.map { "\($0.name): \($0.value)" }.joined(separator: ", ") + "}"
        case .none: "null"
        case .unread: "…"
        }
    }
}
