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
    var traffic = ConnectionTraffic()

    init(number: Int, openedAt: Int64, streamLimit: StreamLimit) {
        self.number = number
        self.openedAt = openedAt
        self.streamLimit = streamLimit
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
