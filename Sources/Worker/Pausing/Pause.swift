internal import Push

/// Stops what cannot succeed, then tries one push at a time, at growing intervals, until one goes through.
///
/// An app has one for its credential and for suspect tokens, each of its topics may have one, and a credential has one
/// for outages of Apple. Messages stay in RabbitMQ meanwhile and no attempt is spent but the probe's.
struct Pause: Equatable {
    /// Why it pauses; the raw value stands in the heartbeat.
    enum Cause: String {
        /// Apple refuses the credential.
        case credential
        /// Too many tokens do not fit the app's environment or topic.
        case suspects
        /// Apple answers with 5xx or not at all.
        case outage

        /// The first wait.
        var first: Duration { self == .outage ? .seconds(1) : .seconds(15) }
        /// What the waits double up to.
        var longest: Duration { self == .outage ? .seconds(10) : .seconds(5 * 60) }
    }

    enum State: Equatable {
        /// Everything goes.
        case flowing
        /// Nothing goes until then.
        case paused(until: MonotonicTime)
        /// One push at a time finds out whether it is over; nil while it is still to be sent.
        case probing(Probe?)
    }

    struct Probe: Equatable {
        let context: UInt64
        let sent: MonotonicTime
    }

    /// What an answer, or the lack of one, says.
    enum Evidence {
        /// Apple took the push, or says that the token once was of this app and environment.
        case accepted
        /// Apple refused the push for what it is, having nothing against the credential.
        case answered
        /// Token and environment or topic do not fit.
        case suspect
        /// Apple refuses the credential.
        case refused
        /// A 5xx, or no answer.
        case nothing
        /// It certainly did not reach Apple.
        case unsent
    }

    enum Change: Equatable {
        case none
        /// The probe failed: it waits again.
        case paused
        /// The probe says nothing; another one may go at once.
        case probesAgain
        case resumed
    }

    /// What is to become of a push that wants to go.
    enum Admission {
        case go
        /// It waits for the probe's answer.
        case hold
        case giveBack
    }

    private(set) var state = State.flowing
    /// Nil while everything goes.
    private(set) var cause: Cause?
    private var pauses = 0

    var isFlowing: Bool { self.state == .flowing }

    /// There is a reason to stop.
    /// - Returns: whether this begins a pause, or ends the probing of one. What was on its way when it began changes
    ///   nothing.
    mutating func begin(_ cause: Cause, at now: MonotonicTime) -> Bool {
        if case .paused = self.state { return false }
        self.wait(cause, at: now)
        return true
    }

    private mutating func wait(_ cause: Cause, at now: MonotonicTime) {
        if cause != self.cause { self.pauses = 0 }
        var until = now + cause.first
        let length = Duration.nanoseconds(
            min(cause.longest.nanoseconds, cause.first.nanoseconds << min(self.pauses, 10))
        )
        if cause == .outage, case .probing(let probe?) = self.state {
            // A probe without an answer has waited for long already.
            until = max(until, probe.sent + length)
        } else {
            until = now + length
        }
        self.cause = cause
        self.pauses += 1
        self.state = .paused(until: until)
    }

    /// Something was heard of a request, the probe or another.
    mutating func heard(_ evidence: Evidence, of context: UInt64, at now: MonotonicTime) -> Change {
        guard let cause = self.cause else { return .none }
        let isProbe = if case .probing(let probe?) = self.state { probe.context == context } else { false }
        switch (cause, evidence) {
        case (.outage, .accepted), (.outage, .answered), (.outage, .suspect), (.outage, .refused):
            // Whatever it is, it is an answer: Apple is back.
            return self.resume()
        case _ where !isProbe: return .none
        case (_, .accepted), (.credential, .answered), (.credential, .suspect): return self.resume()
        case (_, .answered), (_, .unsent):
            self.state = .probing(nil)
            return .probesAgain
        case (_, .refused): self.wait(.credential, at: now)
        case (_, .suspect), (_, .nothing): self.wait(cause, at: now)
        }
        return .paused
    }

    private mutating func resume() -> Change {
        self.state = .flowing
        self.cause = nil
        self.pauses = 0
        return .resumed
    }

    /// Another credential is in use: a pause is over, and the next one is short again.
    mutating func credentialChanged(at now: MonotonicTime) {
        self.pauses = 0
        if case .paused = self.state { self.state = .paused(until: now) }
    }

    // MARK: With the fleet

    /// Waits as the fleet does, whatever it did before.
    mutating func adopt(_ cause: Cause, until time: MonotonicTime, pauses: Int) {
        self.cause = cause
        self.pauses = pauses
        self.state = .paused(until: time)
    }

    /// Somebody else found that it is over.
    mutating func end() { _ = self.resume() }

    /// How many waits there were, the present one included.
    var waits: Int { self.pauses }

    /// Begins to probe once the pause is over.
    /// - Returns: whether it began now.
    mutating func isDue(at now: MonotonicTime) -> Bool {
        guard case .paused(let until) = self.state, now >= until else { return false }
        self.state = .probing(nil)
        return true
    }

    /// Whether a push may go now. One that goes is reported by ``sent(_:at:)``.
    var admission: Admission {
        switch self.state {
        case .flowing, .probing(nil): .go
        case .probing: .hold
        case .paused: .giveBack
        }
    }

    /// A push was sent; while probing, it is the probe.
    mutating func sent(_ context: UInt64, at now: MonotonicTime) {
        guard self.state == .probing(nil) else { return }
        self.state = .probing(Probe(context: context, sent: now))
    }

    /// Whether this request is the one that finds out.
    func isProbe(_ context: UInt64) -> Bool {
        if case .probing(let probe?) = self.state { probe.context == context } else { false }
    }
}
