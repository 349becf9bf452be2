internal import Push

/// One push as the fleet's contract has it, but for its tokens: the same for all devices of an application.
struct PushDraft: Sendable, Equatable {
    /// The app of the fleet.
    var app: String
    var pushType: String?
    var topic: String?
    var priority: Int?
    var collapseID: String?
    /// Unix seconds.
    var expiresAt: Int64?
    /// A JSON object; reaches Apple byte for byte.
    var payload: [UInt8]
    /// Whether each token's fate is told.
    var wantsReceipt = false

    /// The body of a message with these tokens. Source: `deploy/contract/message.schema.json`.
    /// - Parameter tokens: hexadecimal digits only.
    func body(tokens: some Sequence<String>) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(256 + self.payload.count)
        body += #"{"app":"#.utf8
        JSONString.append(self.app, to: &body)
        body += #","tokens":["#.utf8
        var isFirst = true
        for token in tokens {
            if !isFirst { body.append(UInt8(ascii: ",")) }
            isFirst = false
            body.append(UInt8(ascii: "\""))
            body += token.utf8
            body.append(UInt8(ascii: "\""))
        }
        body.append(UInt8(ascii: "]"))
        self.append("push_type", self.pushType, to: &body)
        self.append("topic", self.topic, to: &body)
        self.append("collapse_id", self.collapseID, to: &body)
        if let priority = self.priority { body += ",\"priority\":\(priority)".utf8 }
        if let expiresAt = self.expiresAt { body += ",\"expires_at\":\(expiresAt)".utf8 }
        if self.wantsReceipt { body += ",\"receipt\":true".utf8 }
        body += ",\"payload\":".utf8
        body += self.payload
        body.append(UInt8(ascii: "}"))
        return body
    }

    private func append(_ key: String, _ value: String?, to body: inout [UInt8]) {
        guard let value else { return }
        body += ",\"\(key)\":".utf8
        JSONString.append(value, to: &body)
    }
}
