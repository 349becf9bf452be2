internal import Push

/// What APNs thinks of one request.
struct Verdict: Equatable, Sendable {
    var status: UInt16
    /// The `reason` of the body; nil with 200.
    var reason: Reason?
    /// With 410: since when the token is known to be invalid.
    var timestamp: UnixTime?

    static let accepted = Verdict(status: 200)

    static func refused(_ reason: Reason, at timestamp: UnixTime? = nil) -> Verdict {
        Verdict(status: reason.status, reason: reason, timestamp: timestamp)
    }

    var isAccepted: Bool { self.status == 200 }
}
