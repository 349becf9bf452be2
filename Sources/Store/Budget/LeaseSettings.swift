internal import Push

/// The times of a connection budget. All workers of a pool must use the same.
package struct LeaseSettings: Hashable, Sendable {
    /// How long Redis keeps a worker's connections for it after its last renewal; default 20 s.
    package let ttl: Duration
    /// How often a worker renews; default 3 s.
    package let heartbeat: Duration
    /// How long a worker may keep a connection when there are more workers than connections; default 30 s.
    package let quantum: Duration
    /// How many connections one worker opens in a second, at most; default 2. Apple takes rapid connecting and
    /// disconnecting for an attack.
    package let dialsPerSecond: Int

    /// - Throws: when `ttl` leaves a worker less than about three heartbeats before it must stop.
    package init(
        ttl: Duration = .seconds(20),
        heartbeat: Duration = .seconds(3),
        quantum: Duration = .seconds(30),
        dialsPerSecond: Int = 2
    ) throws(LeaseSettingsError) {
        guard heartbeat >= .milliseconds(100) else { throw .heartbeatTooShort }
        guard ttl >= heartbeat * 6 else { throw .ttlTooShort(minimum: heartbeat * 6) }
        guard dialsPerSecond > 0 else { throw .noDials }
        self.ttl = ttl
        self.heartbeat = heartbeat
        self.quantum = quantum
        self.dialsPerSecond = dialsPerSecond
    }

    private init() {
        self.ttl = .seconds(20)
        self.heartbeat = .seconds(3)
        self.quantum = .seconds(30)
        self.dialsPerSecond = 2
    }

    /// 20 s, renewed every 3 s.
    package static let standard = LeaseSettings()

    /// A silence of all workers that is longer than this may be a jump of the server's clock instead.
    var silence: Duration { self.heartbeat * 2 }

    /// Differences between two clocks below this are taken for the network's doing.
    var slack: Duration { self.heartbeat / 3 }

    /// How much earlier than Redis a worker takes its lease for ended: covers a jump of the server's clock that stays
    /// below `silence`, the slack on both sides, and clocks that run at different speeds.
    var margin: Duration { self.silence + self.slack * 2 + self.heartbeat / 6 }
}

/// The settings contradict each other.
package enum LeaseSettingsError: Error, Equatable, Sendable, CustomStringConvertible {
    case heartbeatTooShort
    case ttlTooShort(minimum: Duration)
    case noDials

    package var description: String {
        switch self {
        case .heartbeatTooShort: "the heartbeat must be at least 0.1 s"
        case .ttlTooShort(let minimum): "the lease time must be at least six heartbeats, \(minimum)"
        case .noDials: "at least one new connection per second must be allowed"
        }
    }
}
