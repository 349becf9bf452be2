internal import HTTP2

/// The header block of answers, in memory that is used again for each.
struct AnswerHeaders {
    private let block = HeaderBlock()

    func fill(with answer: Answer, retryAfter: String? = nil) -> HeaderBlock {
        self.block.removeAll()
        self.block.append(answer.isBroadcast ? Self.requestID : Self.id, answer.id.bytes(upperCase: !answer.isOwnID))
        if let uniqueID = answer.uniqueID { self.block.append(Self.uniqueID, uniqueID.bytes(upperCase: false)) }
        if let retryAfter { self.block.append(name: "retry-after", value: retryAfter) }
        return self.block
    }

    // Their values differ each time, so that keeping them would only drive out others.
    private static let id = HeaderName("apns-id", .nameOnly)
    private static let requestID = HeaderName("apns-request-id", .nameOnly)
    private static let uniqueID = HeaderName("apns-unique-id", .nameOnly)
}
