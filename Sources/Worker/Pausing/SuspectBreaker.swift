internal import Push

/// Watches how many of an app's last answers said that token and environment or topic do not fit.
///
/// A wrong environment, or a wrong bundle id, turns the whole app into such answers; somebody who deletes tokens on them
/// would lose a user base. So beyond a share of them the app stops. Apple, "Handling notification responses from APNs",
/// tells not to retry these.
struct SuspectBreaker {
    /// Fewer answers than this tell nothing.
    static let least = 20

    let threshold: Int
    private var answers: [Bool]
    private var next = 0
    private var count = 0
    private var suspects = 0

    /// - Parameters:
    ///   - window: how many of the last answers count, at least ``least``.
    ///   - threshold: the share in percent at which it opens; 0 for never.
    init(window: Int, threshold: Int) {
        self.threshold = threshold
        self.answers = [Bool](repeating: false, count: max(Self.least, window))
    }

    /// Takes down an answer about a token.
    /// - Returns: whether the app should stop now. Only a suspect answer stops it.
    mutating func answered(isSuspect: Bool) -> Bool {
        if self.count < self.answers.count {
            self.count += 1
        } else if self.answers[self.next] {
            self.suspects -= 1
        }
        self.answers[self.next] = isSuspect
        self.next += 1
        if self.next == self.answers.count { self.next = 0 }
        guard isSuspect else { return false }
        self.suspects += 1
        return self.threshold > 0 && self.count >= Self.least && self.suspects * 100 >= self.threshold * self.count
    }

    /// Whether it has seen too few answers to judge by itself.
    var isYoung: Bool { self.count < Self.least }

    /// A probe went through: what was before tells nothing any more.
    mutating func clear() {
        self.next = 0
        self.count = 0
        self.suspects = 0
    }
}
