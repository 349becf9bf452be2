internal import Push

/// Decides when to ask the peer whether it is there, and when to give it up.
///
/// Anything that arrives is a sign of life, not only the acknowledgement of a PING.
struct Liveness {
    enum Action: Equatable {
        /// Nothing is due; look again at `due`.
        case wait
        case ping
        /// Nothing arrived in time after a PING.
        case giveUp
    }

    private let interval: Duration
    private let timeout: Duration
    private(set) var lastInbound: MonotonicTime
    private var pingSentAt: MonotonicTime?

    init(interval: Duration, timeout: Duration, at now: MonotonicTime) {
        self.interval = interval
        self.timeout = timeout
        self.lastInbound = now
    }

    /// When `check` has something to say.
    var due: MonotonicTime { self.pingSentAt.map { $0 + self.timeout } ?? self.lastInbound + self.interval }

    /// - Returns: whether a PING was answered, which changes `due`.
    @discardableResult
    mutating func bytesArrived(at now: MonotonicTime) -> Bool {
        self.lastInbound = now
        guard let pingSentAt = self.pingSentAt, now > pingSentAt else { return false }
        self.pingSentAt = nil
        return true
    }

    mutating func check(at now: MonotonicTime) -> Action {
        guard self.due <= now else { return .wait }
        guard self.pingSentAt == nil else { return .giveUp }
        self.pingSentAt = now
        return .ping
    }

    /// A request that began at `start` timed out.
    mutating func requestTimedOut(startedAt start: MonotonicTime, at now: MonotonicTime) -> Action {
        guard self.pingSentAt == nil, self.lastInbound <= start else { return .wait }
        self.pingSentAt = now
        return .ping
    }
}
