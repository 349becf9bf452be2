internal import Push

/// What the numbers in one worker's records stand for, from the hash of its session.
///
/// The first word of a text says what it is: `line now:app`, `answer 410 Unregistered`, `failure timeout maybe`,
/// `reason expired`, `cause TooManyRequests`.
package struct SessionNames: Sendable {
    package let worker: String?
    private var texts: [Int: String] = [:]

    package init(_ fields: [String: RedisReply]) {
        self.worker = fields["worker"]?.text
        for (field, value) in fields {
            guard let number = Int(field), let text = value.text, text.utf8.count <= 512 else { continue }
            self.texts[number] = text
        }
    }

    static let unknown = SessionNames([:])

    private func text(_ number: Int, _ kind: String) -> Substring? {
        guard let text = self.texts[number], text.hasPrefix(kind + " ") else { return nil }
        return text.dropFirst(kind.count + 1)
    }

    func line(_ number: Int) -> (app: String, lane: String)? {
        guard let text = self.text(number, "line"), let colon = text.firstIndex(of: ":") else { return nil }
        return (String(text[text.index(after: colon)...]), String(text[..<colon]))
    }

    func reason(_ number: Int) -> DeadLetterReason? {
        self.text(number, "reason").flatMap { DeadLetterReason(rawValue: String($0)) }
    }

    func cause(_ number: Int) -> String? { self.text(number, "cause").map(String.init) }

    /// - Parameter number: 0 for Apple's 200.
    func result(_ number: Int) -> MessageStory.Answer.Result {
        if number == 0 { return .status(200, nil) }
        if let text = self.text(number, "answer") {
            let words = text.split(separator: " ", maxSplits: 1)
            guard let status = words.first.flatMap({ Int($0) }) else { return .unknown }
            return .status(status, words.count == 2 ? String(words[1]) : nil)
        }
        if let text = self.text(number, "failure") {
            let words = text.split(separator: " ")
            guard let cause = words.first else { return .unknown }
            return .none(String(cause), mayBeSent: words.last == "maybe")
        }
        return .unknown
    }
}
