import Broker
import Push

/// A message that must end in the dead-letter queue, and what its dead letter must say.
struct BadInput: Sendable {
    let name: String
    let body: [UInt8]
    let reason: DeadLetterReason
    let field: String?
    var routingKey = "\(Fleet.app).now"

    init(_ name: String, _ body: [UInt8], _ reason: DeadLetterReason, _ field: String? = nil) {
        self.name = name
        self.body = body
        self.reason = reason
        self.field = field
    }

    init(_ name: String, _ body: String, _ reason: DeadLetterReason, _ field: String? = nil) {
        self.init(name, Array(body.utf8), reason, field)
    }

    /// A good message with one more member.
    init(_ name: String, with member: String, _ reason: DeadLetterReason, _ field: String? = nil) {
        self.init(name, Draft(Self.token).with(member).body, reason, field)
    }

    func through(_ routingKey: String) -> BadInput {
        var input = self
        input.routingKey = routingKey
        return input
    }

    /// None of these may ever reach Apple, so they all name one token.
    static let token = Draft.token(0xbad)

    static let all: [BadInput] = texts + fields + tokens + payloads + addresses

    // MARK: Texts (F31–F33)

    private static let good = Draft(token).text

    private static let texts: [BadInput] = [
        BadInput("not JSON", "hello", .invalidJSON),
        BadInput("empty", "", .invalidJSON),
        BadInput("white space only", " \r\n\t ", .invalidJSON),
        BadInput("an array", "[\(good)]", .notAnObject),
        BadInput("cut off", String(good.dropLast()), .invalidJSON),
        BadInput("two values", good + good, .invalidJSON),
        BadInput("a byte order mark", "\u{feff}" + good, .invalidJSON),
        BadInput("UTF-16", good.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }, .invalidJSON),
        BadInput("a NUL behind", Array(good.utf8) + [0], .invalidJSON),
        BadInput("a NUL in a string", Array(good.utf8.map { $0 == UInt8(ascii: "H") ? 0 : $0 }), .invalidJSON),
        BadInput("invalid UTF-8", Array(good.utf8.map { $0 == UInt8(ascii: "H") ? 0xff : $0 }), .invalidUTF8),
        BadInput("overlong UTF-8", replacingHello([0xc0, 0xaf]), .invalidUTF8),
        BadInput("a surrogate in UTF-8", replacingHello([0xed, 0xa0, 0x80]), .invalidUTF8),
        BadInput("beyond Unicode", replacingHello([0xf4, 0x90, 0x80, 0x80]), .invalidUTF8),
        BadInput("a lone surrogate as an escape", replacingHello(Array(#"\ud800"#.utf8)), .invalidJSON),
        BadInput("10 MB", Array(repeating: UInt8(ascii: " "), count: 10 << 20) + good.utf8, .tooLarge),
        BadInput("10 MB in one string", replacingHello(Array(repeating: 0x61, count: 10 << 20)), .tooLarge),
        BadInput("one byte over the limit", padded(to: Contract.bodyLimit + 1), .tooLarge),
        BadInput(
            "arrays nested 10,000 deep",
            String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000),
            .invalidJSON
        ),
        BadInput("nested 100,000 deep and never closed", String(repeating: "[", count: 100_000), .invalidJSON),
        BadInput(
            "a payload nested 10,000 deep",
            withPayload(String(repeating: #"{"a":"#, count: 10_000) + "1" + String(repeating: "}", count: 10_000)),
            .invalidJSON
        ),
        BadInput(
            "a million keys",
            withPayload("{" + (0..<1_000_000).map { "\"\($0)\":0" }.joined(separator: ",") + "}"),
            .tooLarge
        ),
        BadInput(
            "as many unknown keys as fit",
            "{" + (0..<20_000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}",
            .unknownField,
            "k0"
        ),
        BadInput("1e999", withPayload(#"{"aps":{"badge":1e999}}"#), .invalidJSON),
        BadInput("-1e999 as a date", with: #""expires_at":-1e999"#, .invalidJSON),
        BadInput("NaN", withPayload(#"{"aps":{"badge":NaN}}"#), .invalidJSON),
    ]

    private static func replacingHello(_ bytes: [UInt8]) -> [UInt8] {
        let parts = Self.good.split(separator: "Hello", maxSplits: 1)
        return Array(parts[0].utf8) + bytes + Array(parts[1].utf8)
    }

    private static func withPayload(_ payload: String) -> String {
        var draft = Draft(Self.token)
        draft.payload = payload
        return draft.text
    }

    private static func padded(to count: Int) -> [UInt8] {
        Array(repeating: UInt8(ascii: " "), count: count - Self.good.utf8.count) + Self.good.utf8
    }

    // MARK: Fields

    private static let fields: [BadInput] = [
        BadInput("an unknown version", with: #""version":2"#, .unsupportedVersion, "version"),
        BadInput("version 1 as a string", with: #""version":"1""#, .invalidField, "version"),
        BadInput(
            "a version without end",
            with: #""version":1\#(String(repeating: "0", count: 300))"#,
            .unsupportedVersion,
            "version"
        ),
        BadInput("a key twice", with: #""tokens":["aa"]"#, .duplicateField, "tokens"),
        BadInput("the payload twice", with: #""payload":{}"#, .duplicateField, "payload"),
        BadInput("a key twice, once escaped", with: #""\u0061pp":"com.example.shop""#, .duplicateField, "app"),
        BadInput("an unknown key", with: #""colapse_id":"a""#, .unknownField, "colapse_id"),
        BadInput("no app", #"{"tokens":["aa"],"payload":{}}"#, .missingField, "app"),
        BadInput(
            "collapse id of 65 bytes",
            with: #""collapse_id":"\#(String(repeating: "a", count: 65))""#,
            .invalidField,
            "collapse_id"
        ),
        BadInput(
            "collapse id of 33 two-byte letters",
            with: #""collapse_id":"\#(String(repeating: "é", count: 33))""#,
            .invalidField,
            "collapse_id"
        ),
        BadInput(
            "a control character in the collapse id",
            with: #""collapse_id":"a\u0001b""#,
            .invalidField,
            "collapse_id"
        ),
        BadInput(
            "a line break in the collapse id",
            with: #""collapse_id":"a\r\nx-evil: 1""#,
            .invalidField,
            "collapse_id"
        ),
        BadInput("DEL in the collapse id", with: #""collapse_id":"a\u007f""#, .invalidField, "collapse_id"),
        BadInput("a line break in the topic", with: #""topic":"com.example\r\nx-evil: 1""#, .invalidField, "topic"),
        BadInput("a NUL in the topic", with: #""topic":"com\u0000""#, .invalidField, "topic"),
        BadInput("a control character in the push type", with: #""push_type":"alert\n""#, .invalidField, "push_type"),
        BadInput("an unknown push type", with: #""push_type":"carrier-pigeon""#, .invalidField, "push_type"),
        BadInput("a date in milliseconds", with: #""expires_at":1767225600000"#, .invalidField, "expires_at"),
        BadInput("a date before 1970", with: #""expires_at":-1"#, .invalidField, "expires_at"),
        BadInput("a date beyond 64 bits", with: #""expires_at":99999999999999999999999"#, .invalidField, "expires_at"),
        BadInput("a date as text", with: #""not_before":"tomorrow""#, .invalidField, "not_before"),
        BadInput("half a second", with: #""not_before":1767225600.5"#, .invalidField, "not_before"),
        BadInput("a date after 2200", with: #""not_before":9999999999"#, .invalidField, "not_before"),
        BadInput("held for longer than messages are held", with: #""not_before":7000000000"#, .holdLimit, "not_before"),
        BadInput("expired long ago", with: #""expires_at":1000000000"#, .expired, "expires_at"),
        BadInput(
            "expires before it may be sent",
            with: #""expires_at":4102444800,"not_before":4102444801"#,
            .expired,
            "expires_at"
        ),
        BadInput("priority 7", with: #""priority":7"#, .invalidField, "priority"),
    ]

    // MARK: Tokens

    private static let tokens: [BadInput] = [
        BadInput("no tokens", Draft(tokens: []).body, .invalidField, "tokens"),
        BadInput("an empty token", Draft("").body, .invalidField, "tokens"),
        BadInput("an odd token", Draft(String(Self.token.dropLast())).body, .invalidField, "tokens"),
        BadInput(
            "a token that is not hexadecimal",
            Draft(String(repeating: "xy", count: 32)).body,
            .invalidField,
            "tokens"
        ),
        BadInput("a token with a path in it", Draft("../../etc/passwd").body, .invalidField, "tokens"),
        BadInput("a token with a line break", Draft(#"ab\r\n"#).body, .invalidField, "tokens"),
        BadInput("a token too long", Draft(String(repeating: "ab", count: 201)).body, .invalidField, "tokens"),
        BadInput("1,001 tokens", Draft(tokens: (0...1000).map { Draft.token($0) }).body, .invalidField, "tokens"),
        BadInput("one bad token among good ones", Draft(tokens: [Self.token, "zz"]).body, .invalidField, "tokens"),
    ]

    // MARK: Payloads, counted in bytes

    private static let payloads: [BadInput] = [
        BadInput("a payload of 4,097 bytes", sized(4097), .payloadTooLarge, "payload"),
        BadInput("4,097 bytes in two-byte letters", sized(4097, letter: "é"), .payloadTooLarge, "payload"),
        BadInput("a voip payload of 5,121 bytes", sized(5121, type: "voip"), .payloadTooLarge, "payload"),
        BadInput(
            "a payload that is a string",
            #"{"app":"a","tokens":["aa"],"payload":"{}"}"#,
            .invalidField,
            "payload"
        ),
    ]

    /// A message with a payload of exactly so many bytes.
    static func sized(_ count: Int, letter: Character = "a", type: String = "alert", token: String = token) -> [UInt8] {
        var draft = Draft(token).with(#""push_type":"\#(type)""#)
        let room = count - #"{"a":""}"#.utf8.count
        let width = letter.utf8.count
        let text = String(repeating: letter, count: room / width) + String(repeating: "a", count: room % width)
        draft.payload = #"{"a":"\#(text)"}"#
        precondition(draft.payload.utf8.count == count)
        return draft.body
    }

    // MARK: Addresses

    private static let addresses: [BadInput] = [
        BadInput("another app than its queue's", Draft(token, app: "com.example.other").body, .appMismatch, "app"),
        BadInput("an unknown app", Draft(token, app: "com.example.unknown").body, .unknownApp, "app")
            .through("com.example.unknown.now"),
        BadInput("an unknown lane", Draft(token).body, .unroutableLane, "routing key")
            .through("\(Fleet.app).later"),
        BadInput("an app with a line break", Draft(token, app: #"com.example\n"#).body, .invalidField, "app"),
        BadInput("a broken body for an unknown app", "{", .invalidJSON).through("nobody.now"),
    ]
}
