internal import APNs
internal import Push
internal import Store

/// What the trail is told of one message's tokens. One token needs no heap.
struct FlightTrace {
    private var first = TokenTrace()
    private var all: [TokenTrace] = []
    private(set) var earlier: [EarlierAnswer] = []
    /// Whether it was told while it was not over.
    var isTold = false
    /// Why the message is no job; 0 if it is.
    var refusal: UInt16 = 0

    init(tokenCount: Int) {
        if tokenCount > 1 { self.all = Array(repeating: TokenTrace(), count: tokenCount) }
    }

    subscript(token: Int) -> TokenTrace {
        get { self.all.isEmpty ? self.first : self.all[token] }
        _modify {
            if self.all.isEmpty { yield &self.first } else { yield &self.all[token] }
        }
    }

    /// A request went out.
    mutating func sent(_ token: Int, _ digits: UnsafeRawBufferPointer, hash: UInt64, after time: UInt32) {
        if self[token].sends > 0 {
            if self[token].isAnswered, self.earlier.count < Self.mostEarlier {
                self.earlier.append(EarlierAnswer(token, self[token]))
            }
            self[token].isAnswered = false
            self[token].name = 0
        } else {
            self[token].identify(digits, hash: hash)
        }
        self[token].sends &+= self[token].sends < .max ? 1 : 0
        self[token].state = .sent
        self[token].time = time
    }

    /// It has its answer, or will have none.
    mutating func answered(_ token: Int, after time: UInt32, latency: Duration, connection: Int, name: UInt16) {
        self.update(token) { trace in
            trace.isAnswered = true
            trace.state = .waiting
            trace.time = time
            trace.latency = UInt32(clamping: latency.milliseconds)
            trace.connection = UInt16(clamping: connection)
            trace.name = name
        }
    }

    mutating func update(_ token: Int, _ change: (inout TokenTrace) -> Void) { change(&self[token]) }

    mutating func withTokens(_ use: (UnsafeBufferPointer<TokenTrace>) -> Void) {
        guard self.all.isEmpty else { return self.all.withUnsafeBufferPointer(use) }
        withUnsafePointer(to: &self.first) { use(UnsafeBufferPointer(start: $0, count: 1)) }
    }

    private static let mostEarlier = 100
}

/// The numbers of what the trail says often.
struct TrailWords {
    private struct Answer: Hashable {
        let status: Int
        let reason: ApnsReason?
    }

    private let trail: TrailFlush
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
        if let name = self.answers[answer] { return name }
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
