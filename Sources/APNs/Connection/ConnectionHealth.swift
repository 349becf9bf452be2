package import Push

/// Judges one connection by what comes back on it: whether it is to be replaced, and how many streams it is trusted
/// with. Does no I/O and reads no clock.
///
/// One bad answer is no reason to reconnect: Apple takes quick opening and closing for an attack ("Establishing a
/// connection to APNs"). A run of them is, and so is an answer that says that the connection is over.
package struct ConnectionHealth: Sendable {
    /// What is to become of the connection.
    package enum Verdict: Equatable, Sendable {
        case keep
        /// It takes nothing new, and another one is opened in its place.
        case retire
    }

    package struct Settings: Equatable, Sendable {
        /// Answers of 5xx in a row after which a connection is replaced; default 5.
        package var serverErrorsToRetire = 5
        /// How long such a row must last; default 250 ms. Answers that are ready together come sorted, those without a
        /// body first, so that the errors among them are in a row although others went well.
        package var serverErrorTime: Duration = .milliseconds(250)
        /// Requests in a row without an answer in time after which it is; default 3.
        package var timeoutsToRetire = 3
        /// After this long without a request, a 500 or silence tells of a connection that has gone stale; default 60 s.
        /// Operators see that such a one does not recover, and that a new one heals it.
        package var idleTime: Duration = .seconds(60)
        /// Streams that a connection is trusted with; default 1000.
        package var streams = 1000
        /// Complaints about too many streams within this time are one complaint; default 1 s.
        package var calmInterval: Duration = .seconds(1)

        package init() {}
    }

    private let settings: Settings
    private var serverErrors = 0
    private var firstServerError = MonotonicTime(nanoseconds: 0)
    private var timeouts = 0
    private var lastRequest: MonotonicTime
    /// Whether the request under way is the first one after a long silence.
    private var isWaking = false
    private var lastCalm: MonotonicTime?
    /// Good answers since the cap was last changed.
    private var credit = 0

    /// Streams that it is trusted with now, whatever the peer allows.
    package private(set) var streamCap: Int

    package init(settings: Settings = Settings(), at now: MonotonicTime) {
        self.settings = settings
        self.streamCap = settings.streams
        self.lastRequest = now
    }

    /// A request goes out.
    package mutating func sent(at now: MonotonicTime) {
        if now - self.lastRequest > self.settings.idleTime { self.isWaking = true }
        self.lastRequest = now
    }

    /// Apple accepted a push.
    /// - Returns: whether `streamCap` has risen.
    package mutating func accepted() -> Bool {
        self.serverErrors = 0
        self.timeouts = 0
        self.isWaking = false
        guard self.streamCap < self.settings.streams else { return false }
        self.credit += 1
        // One round of answers earns a sixteenth more, as slowly as TCP comes back after a loss.
        guard self.credit >= self.streamCap else { return false }
        self.credit = 0
        self.streamCap = min(self.settings.streams, self.streamCap + max(1, self.streamCap / 16))
        return true
    }

    /// Apple answered something else.
    package mutating func answered(_ reply: Reply, _ classification: Classification, at now: MonotonicTime) -> Verdict {
        let wasWaking = self.isWaking
        self.isWaking = false
        self.timeouts = 0
        guard reply.status >= 500 else {
            self.serverErrors = 0
            return classification.connection == .retire ? .retire : .keep
        }
        if self.serverErrors == 0 { self.firstServerError = now }
        self.serverErrors += 1
        if self.serverErrors >= self.settings.serverErrorsToRetire,
            now - self.firstServerError >= self.settings.serverErrorTime
        {
            return .retire
        }
        if reply.status == 500, wasWaking { return .retire }
        return reply.reason == .shutdown ? .retire : .keep
    }

    /// There will be no answer to a request.
    /// - Parameter openStreams: with the failed one.
    package mutating func failed(_ failure: SendFailure, openStreams: Int, at now: MonotonicTime) -> Verdict {
        switch failure.cause {
        case .timeout:
            let wasWaking = self.isWaking
            self.isWaking = false
            self.timeouts += 1
            return wasWaking || self.timeouts >= self.settings.timeoutsToRetire ? .retire : .keep
        case .reset(Self.enhanceYourCalm):
            self.calmDown(openStreams: openStreams, at: now)
            return .keep
        case .goAwayUnprocessed, .credentialReplaced, .connectionLost, .protocolViolation:
            return .retire
        case .streamRefused, .noConnection, .draining, .reset:
            return .keep
        }
    }

    private mutating func calmDown(openStreams: Int, at now: MonotonicTime) {
        // Many streams that are reset together were too many once, not many times.
        if let last = self.lastCalm, now - last < self.settings.calmInterval { return }
        self.lastCalm = now
        self.credit = 0
        self.streamCap = max(1, min(self.streamCap, openStreams) / 2)
    }

    /// RFC 9113 §7, ENHANCE_YOUR_CALM.
    private static let enhanceYourCalm: UInt32 = 11
}
