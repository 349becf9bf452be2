/// When a message to an http subscriber is tried again.
///
/// Source: Amazon SNS Developer Guide, "Creating an HTTP/S delivery policy".
package struct DeliveryPolicy: Equatable, Sendable {
    package enum Backoff: String, CaseIterable, Sendable {
        case linear, arithmetic, geometric, exponential
    }

    /// Seconds.
    package var minDelay = 20
    /// Seconds.
    package var maxDelay = 20
    package var retries = 3
    package var immediateRetries = 0
    package var minDelayRetries = 0
    package var maxDelayRetries = 0
    package var backoff = Backoff.linear

    /// The `Content-Type` of what is posted; nil for `text/plain; charset=UTF-8`.
    package var contentType: String?

    /// Amazon's own: three times, 20 seconds apart.
    package static let standard = Self()

    package init() {}

    /// Reads a subscription's policy, or the part of a topic's under `http`.
    ///
    /// - Throws: what follows "DeliveryPolicy: " in the error.
    package init(parsing text: String) throws(DeliveryPolicyFault) {
        guard case .object(var members)? = try? JSONTree(parsing: text) else {
            throw DeliveryPolicyFault(problem: "failed to parse JSON.")
        }
        if case .object(let http)? = members["http"] { members = http }
        if let request = members["requestPolicy"] ?? members["defaultRequestPolicy"] {
            guard case .object(let members) = request else { throw .notObject("requestPolicy") }
            if let type = members["headerContentType"] {
                guard case .text(let type) = type, Self.isContentType(type.string) else {
                    throw DeliveryPolicyFault(problem: "headerContentType is not a supported content type")
                }
                self.contentType = type.string
            }
        }
        guard let retry = members["healthyRetryPolicy"] ?? members["defaultHealthyRetryPolicy"] else { return }
        if retry == .null { return }
        guard case .object(let members) = retry else { throw .notObject("healthyRetryPolicy") }
        try self.read(members)
    }

    private mutating func read(_ members: [ExactText: JSONTree]) throws(DeliveryPolicyFault) {
        func number(_ name: String, _ range: ClosedRange<Int>, _ standard: Int) throws(DeliveryPolicyFault) -> Int {
            guard let value = members[ExactText(name)], value != .null else { return standard }
            guard case .number(let number) = value, let number = Int(exactly: number), range.contains(number) else {
                throw DeliveryPolicyFault(
                    problem: "healthyRetryPolicy.\(name) must be between \(range.lowerBound) and \(range.upperBound)"
                )
            }
            return number
        }
        self.minDelay = try number("minDelayTarget", 1...3600, self.minDelay)
        self.maxDelay = try number("maxDelayTarget", 1...3600, max(self.maxDelay, self.minDelay))
        self.retries = try number("numRetries", 0...100, self.retries)
        self.immediateRetries = try number("numNoDelayRetries", 0...100, 0)
        self.minDelayRetries = try number("numMinDelayRetries", 0...100, 0)
        self.maxDelayRetries = try number("numMaxDelayRetries", 0...100, 0)
        guard self.minDelay <= self.maxDelay else {
            throw DeliveryPolicyFault(problem: "maxDelayTarget must be greater than or equal to minDelayTarget")
        }
        guard self.immediateRetries + self.minDelayRetries + self.maxDelayRetries <= self.retries else {
            throw DeliveryPolicyFault(
                problem: "numRetries must be greater than or equal to the sum of numMinDelayRetries, "
                    + "numNoDelayRetries and numMaxDelayRetries"
            )
        }
        if let function = members["backoffFunction"], function != .null {
            guard case .text(let name) = function, let backoff = Backoff(rawValue: name.string) else {
                throw DeliveryPolicyFault(
                    problem: "backoffFunction must be one of linear, arithmetic, geometric, exponential"
                )
            }
            self.backoff = backoff
        }
    }

    /// Seconds before each retry: at once, then the least delay, then rising, then the greatest.
    package var delays: [Int] {
        let rising = self.retries - self.immediateRetries - self.minDelayRetries - self.maxDelayRetries
        return Array(repeating: 0, count: self.immediateRetries)
            + Array(repeating: self.minDelay, count: self.minDelayRetries)
            + (0..<rising).map { self.delay(step: $0, of: rising) }
            + Array(repeating: self.maxDelay, count: self.maxDelayRetries)
    }

    /// All functions begin at the least delay and end at the greatest.
    private func delay(step: Int, of count: Int) -> Int {
        guard count > 1, step > 0 else { return self.minDelay }
        let span = Double(self.maxDelay - self.minDelay)
        let part = Double(step) / Double(count - 1)
        switch self.backoff {
        case .linear: return self.minDelay + Int(span * part)
        case .arithmetic:
            // The steps between delays grow by the same each time.
            return self.minDelay + Int(span * Double(step * (step + 1)) / Double((count - 1) * count))
        case .geometric: return self.minDelay + Int(span * part * part)
        case .exponential:
            // Doubles until it is at the greatest.
            return step < 12 ? min(self.maxDelay, self.minDelay << step) : self.maxDelay
        }
    }

    /// Source: "Creating an HTTP/S delivery policy", `headerContentType`: a media type and perhaps a parameter.
    private static func isContentType(_ text: String) -> Bool {
        (3...128).contains(text.utf8.count) && text.utf8.contains(UInt8(ascii: "/"))
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }
}

/// What is wrong with a delivery policy.
package struct DeliveryPolicyFault: Error, Equatable, Sendable {
    package let problem: String

    static func notObject(_ name: String) -> Self { Self(problem: "\(name) must be an object") }
}
