/// Where messages go that cannot be delivered to a subscriber.
///
/// Source: Amazon SNS Developer Guide, "Dead-letter queues".
package struct RedrivePolicy: Equatable, Sendable {
    /// The ARN of a queue.
    package let deadLetterTarget: String

    /// - Throws: what follows "RedrivePolicy: " in the error.
    package init(parsing text: String) throws(RedrivePolicyFault) {
        guard case .object(let members)? = try? JSONTree(parsing: text) else {
            throw RedrivePolicyFault(problem: "failed to parse JSON.")
        }
        guard case .text(let arn)? = members["deadLetterTargetArn"], let queue = QueueARN(arn.string) else {
            throw RedrivePolicyFault(problem: "deadLetterTargetArn is an invalid arn")
        }
        self.deadLetterTarget = queue.description
    }
}

/// What is wrong with a redrive policy.
package struct RedrivePolicyFault: Error, Equatable, Sendable {
    package let problem: String
}

/// A queue: `arn:aws:sqs:<region>:<account>:<name>`.
package struct QueueARN: Equatable, Sendable, CustomStringConvertible {
    package let name: String
    package let description: String

    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "arn", parts[2] == "sqs", Self.isName(parts[5]) else { return nil }
        self.name = String(parts[5])
        self.description = text
    }

    /// As Amazon has them, and dots, which queues of RabbitMQ often have. The fleet's own queues are no subscribers.
    private static func isName(_ text: Substring) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { ARN.isWord($0) || $0 == UInt8(ascii: ".") }
            && !text.hasPrefix("pushfleet.") && !text.hasPrefix("amq.")
    }
}
