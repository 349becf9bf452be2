internal import Foundation
internal import Push

/// A message as `pushfleet send` puts it together: the contract's fields, and a payload that is given or made.
struct MessageDraft: Equatable {
    var app: String
    var tokens: [String]
    /// Goes before `tokens`.
    var channel: String?
    var pushType: String?
    var priority: Int?
    var collapseID: String?
    var topic: String?
    var expiresAt: Int64?
    var notBefore: Int64?
    /// Whether the exchange of receipts is to tell what becomes of each token.
    var wantsReceipt = false
    /// JSON, taken over byte for byte.
    var payload: String

    /// A payload that shows a text. Apple, "Generating a remote notification".
    static func alert(_ text: String, title: String?) -> String {
        let body = Self.quoted(text)
        return title.map { "{\"aps\":{\"alert\":{\"title\":\(Self.quoted($0)),\"body\":\(body)}}}" }
            ?? "{\"aps\":{\"alert\":\(body)}}"
    }

    /// The body of the message. It is not checked: that is for `EnvelopeDecoder`.
    var body: [UInt8] {
        var fields = ["\"version\":\(Contract.version)", "\"app\":\(Self.quoted(self.app))"]
        if let channel = self.channel {
            fields.append("\"channel\":\(Self.quoted(channel))")
        } else {
            fields.append("\"tokens\":[\(self.tokens.map(Self.quoted).joined(separator: ","))]")
        }
        if let pushType = self.pushType { fields.append("\"push_type\":\(Self.quoted(pushType))") }
        if let priority = self.priority { fields.append("\"priority\":\(priority)") }
        if let collapseID = self.collapseID { fields.append("\"collapse_id\":\(Self.quoted(collapseID))") }
        if let topic = self.topic { fields.append("\"topic\":\(Self.quoted(topic))") }
        if let expiresAt = self.expiresAt { fields.append("\"expires_at\":\(expiresAt)") }
        if let notBefore = self.notBefore { fields.append("\"not_before\":\(notBefore)") }
        if self.wantsReceipt { fields.append("\"receipt\":true") }
        fields.append("\"payload\":\(self.payload)")
        return Array("{\(fields.joined(separator: ","))}".utf8)
    }

    /// A JSON string.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..."\u{1F}":
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// The tokens of a text with one on each line; blank lines and lines that begin with `#` are left out.
    static func tokens(inLines text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    /// A point in time as people give it: Unix seconds, an ISO 8601 date, or `+10m` from now.
    static func time(_ text: String, now: Int64) throws(ValueFault) -> Int64 {
        if text.hasPrefix("+") {
            return now + (try DurationText.parse(String(text.dropFirst()))).milliseconds / 1000
        }
        if let seconds = Int64(text) { return seconds }
        if let date = try? Date(text, strategy: .iso8601) { return Int64(date.timeIntervalSince1970) }
        throw ValueFault(
            phrase:
                "is not a time; write Unix seconds, a date like 2030-01-31T09:00:00Z, or +10m for ten minutes from now"
        )
    }
}
