/// What APNs lets one connection, and one sender, get away with.
///
/// Apple names the rules but no numbers (Apple, "Establishing a connection to APNs"; "Handling notification responses
/// from APNs"), so nothing that could hit a well-behaved sender is on unless it is asked for.
package struct ConnectionPolicy: Equatable, Sendable {
    package enum OverBudget: String, CaseIterable, Sendable {
        /// GOAWAY with what is owed still answered.
        case goAway = "goaway"
        /// A TCP reset.
        case drop
    }

    /// A connection without requests and PINGs for so long gets GOAWAY with `IdleTimeout`; nil: never.
    package var idleTimeout: Duration?
    /// What a connection's refused pushes may cost together before it is ended; nil: any number. Each 4xx costs 1,
    /// `BadDeviceToken` costs ``badDeviceTokenCost``, 410 costs nothing.
    package var errorBudget: Int?
    package var badDeviceTokenCost = 5
    package var overBudget = OverBudget.goAway
    /// Connections that one address may open within ``connectWindow``; nil: any number. The next one, and all within
    /// ``connectBlock`` from then, are reset.
    package var connectLimit: Int?
    package var connectWindow: Duration = .seconds(60)
    package var connectBlock: Duration = .seconds(300)
    /// Connections open at once; nil: any number. One more is reset.
    package var maxConnections: Int?
    /// Whether a connection that was told `ExpiredProviderToken` serves nothing any more: its stream limit is 1, and
    /// requests are refused with RST_STREAM (seen by operators).
    package var wedgesAfterExpiredToken = true

    package init() {}

    /// What one answer costs.
    func cost(status: UInt16, reason: String?) -> Int {
        guard (400..<500).contains(status), status != 410 else { return 0 }
        return reason == Reason.badDeviceToken.rawValue ? self.badDeviceTokenCost : 1
    }
}
