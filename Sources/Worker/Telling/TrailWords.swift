internal import APNs
internal import Push
internal import Store

/// The numbers of what the trail says often.
struct TrailWords {
    private struct Answer: Hashable {
        let status: Int
        let reason: ApnsReason?
    }

    private let trail: TrailFlush
    /// Answers other than 200 come in runs, and comparing is less than looking up.
    private var last: (answer: Answer, name: UInt16)?
    private var answers: [Answer: UInt16] = [:]
    private var causes: [String: UInt16] = [:]
    private var failures: [String: UInt16] = [:]
    private var reasons: [DeadLetterReason: UInt16] = [:]

    init(_ trail: TrailFlush) {
        self.trail = trail
    }

    /// Apple's words as they are, as long as they are not too many.
    mutating func answer(_ reply: Reply) -> UInt16 {
        let answer = Answer(status: reply.status, reason: reply.reason)
        if let last = self.last, last.answer == answer { return last.name }
        let name = self.answers[answer] ?? self.newAnswer(answer, reply)
        self.last = (answer, name)
        return name
    }

    private mutating func newAnswer(_ answer: Answer, _ reply: Reply) -> UInt16 {
        let reason = self.answers.count < Self.mostAnswers ? reply.reason?.text : reply.reason?.counterName
        let name = self.trail.name("answer \(reply.status)\(reason.map { " \($0)" } ?? "")")
        if self.answers.count < Self.mostAnswers { self.answers[answer] = name }
        return name
    }

    mutating func failure(_ failure: SendFailure) -> UInt16 {
        let cause = failure.cause.name
        guard case .maybeSent = failure else { return self.number(cause, in: \.failures, "failure \(cause) not") }
        return self.trail.name("failure \(cause) maybe")
    }

    mutating func cause(_ cause: String) -> UInt16 { self.number(cause, in: \.causes, "cause \(cause)") }

    mutating func reason(_ reason: DeadLetterReason) -> UInt16 {
        if let name = self.reasons[reason] { return name }
        let name = self.trail.name("reason \(reason.rawValue)")
        self.reasons[reason] = name
        return name
    }

    private mutating func number(
        _ word: String,
        in cache: WritableKeyPath<Self, [String: UInt16]>,
        _ text: @autoclosure () -> String
    ) -> UInt16 {
        if let name = self[keyPath: cache][word] { return name }
        let name = self.trail.name(text())
        self[keyPath: cache][word] = name
        return name
    }

    private static let mostAnswers = 300
}
