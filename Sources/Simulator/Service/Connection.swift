internal import Push

/// One connection as the rules see it.
struct Connection: Sendable {
    /// From 1, in the order of opening.
    let number: Int
    /// Milliseconds since 1970.
    let openedAt: Int64
    var binding = CredentialBinding()
    var streamLimit: StreamLimit
    var requests = 0
    var accepted = 0
    /// Requests that have arrived and are neither answered nor given up.
    var open = 0
    var peakOpen = 0
    /// The highest stream limit so far.
    var highestLimit = 0
    /// Requests that came while more were open than the limit announced last; those may have left before it came.
    var aboveLimit = 0
    /// What its refused pushes have cost; see ``ConnectionPolicy``.
    var cost = 0
    /// Whether it serves nothing any more; see ``ConnectionPolicy/wedgesAfterExpiredToken``.
    var isWedged = false
    /// Whether nothing is said on it any more, by which rule, and whether pushes are accepted all the same.
    var hole: (rule: UInt16, processes: Bool)?
    /// Of the newest request, or of its opening.
    var lastRequestAt: MonotonicTime
    var traffic = ConnectionTraffic()

    init(number: Int, openedAt: VirtualClock.Moment, source: String, streamLimit: StreamLimit) {
        self.number = number
        self.openedAt = openedAt.wall.milliseconds
        self.lastRequestAt = openedAt.monotonic
        self.streamLimit = streamLimit
        self.binding.source = source
    }

    /// Counts a request that has come in.
    /// - Returns: how long none had.
    mutating func begin(at now: MonotonicTime) -> Duration {
        self.requests += 1
        self.open += 1
        let limit = Int(self.streamLimit.current)
        self.highestLimit = max(self.highestLimit, limit)
        self.peakOpen = max(self.peakOpen, self.open)
        if self.open > limit { self.aboveLimit += 1 }
        defer { self.lastRequestAt = now }
        return now - self.lastRequestAt
    }

    func record(closedAt: Int64? = nil, ending: String? = nil) -> ConnectionRecord {
        ConnectionRecord(
            number: self.number,
            openedAt: self.openedAt,
            closedAt: closedAt,
            ending: ending,
            team: self.binding.key?.key.team,
            keyID: self.binding.key?.key.id,
            requests: self.requests,
            accepted: self.accepted,
            peakOpenRequests: self.peakOpen,
            highestStreamLimit: max(self.highestLimit, Int(self.streamLimit.current)),
            aboveLimit: self.aboveLimit,
            source: self.binding.source,
            streamLimit: Int(self.streamLimit.current),
            traffic: self.traffic
        )
    }
}

/// One connection as the ledger tells it.
package struct ConnectionRecord: Codable, Equatable, Sendable {
    /// From 1, in the order of opening.
    package var number: Int
    /// Milliseconds since 1970; counted from the end of the TLS handshake.
    package var openedAt: Int64
    package var closedAt: Int64?
    /// Why it is over.
    package var ending: String?
    /// The credential that its first good request bound it to.
    package var team: String?
    package var keyID: String?
    package var requests: Int
    package var accepted: Int
    /// The most requests that were open at once.
    package var peakOpenRequests: Int
    /// The highest limit that was announced.
    package var highestStreamLimit: Int
    /// Requests that came while more were open than the limit announced last; those may have left before it came.
    package var aboveLimit: Int
    /// The sender's address.
    package var source: String
    /// The limit announced last.
    package var streamLimit: Int
    package var traffic: ConnectionTraffic
}

/// Frames that a connection has seen beside the requests.
package struct ConnectionTraffic: Codable, Equatable, Sendable {
    /// PING frames received.
    package var pings = 0
    /// Streams refused because there were too many, or because of a GOAWAY.
    package var refusedStreams = 0
    /// RST_STREAM frames received.
    package var resets = 0

    package init(pings: Int = 0, refusedStreams: Int = 0, resets: Int = 0) {
        self.pings = pings
        self.refusedStreams = refusedStreams
        self.resets = resets
    }

    static func + (left: Self, right: Self) -> Self {
        ConnectionTraffic(
            pings: left.pings + right.pings,
            refusedStreams: left.refusedStreams + right.refusedStreams,
            resets: left.resets + right.resets
        )
    }
}
