/// What became of one attempt to deliver to a subscriber.
enum WebhookOutcome: Equatable, Sendable {
    case delivered
    /// - Parameters:
    ///   - isFinal: another attempt would end the same way.
    ///   - code: an HTTP status or a word, for dead letters.
    case failed(String, code: String, isFinal: Bool)

    /// By the answer's status: an error of the client's is for good, but for the one that says "too many". Source: Amazon
    /// SNS Developer Guide, "Message delivery retries".
    init(status: Int) {
        switch status {
        case 200..<300: self = .delivered
        default:
            let isFinal = (400..<500).contains(status) && status != 429
            self = .failed("The endpoint answered \(status)", code: "\(status)", isFinal: isFinal)
        }
    }
}
