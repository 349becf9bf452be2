internal import Broker

/// What `pushfleet send` has done so far.
struct SendReport: Encodable, Equatable {
    /// Read, or made.
    private(set) var messages = 0
    private(set) var confirmed = 0
    /// No queue takes their routing key.
    private(set) var unroutable = 0
    /// The broker said no.
    private(set) var refused = 0
    /// The connection ended before the broker said anything; they may be there or not.
    private(set) var unanswered = 0
    /// Never left, because the connection ended before.
    private(set) var unsent = 0
    /// Against the contract, and not published.
    private(set) var rejected = 0
    var seconds = 0.0

    mutating func add(_ outcomes: [PublishOutcome], rejected: Int) {
        self.messages += outcomes.count + rejected
        self.rejected += rejected
        for outcome in outcomes {
            switch outcome {
            case .confirmed: self.confirmed += 1
            case .returned: self.unroutable += 1
            case .nacked: self.refused += 1
            case .unknown: self.unanswered += 1
            case .notSent: self.unsent += 1
            }
        }
    }

    var isComplete: Bool { self.confirmed == self.messages }

    /// The numbers that are not zero, in one line.
    var line: String {
        let parts = [
            (self.confirmed, "confirmed"), (self.unroutable, "unroutable"), (self.refused, "refused by the broker"),
            (self.unanswered, "unanswered"), (self.unsent, "not sent"),
            (self.rejected, "against the contract and not published"),
        ]
        let said = parts.filter { $0.0 > 0 || $0.1 == "confirmed" }.map { "\($0.0) \($0.1)" }
        return "\(self.messages) message\(self.messages == 1 ? "" : "s"): " + said.joined(separator: ", ")
    }
}
