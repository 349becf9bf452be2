/// Every answer APNs is known to give, and what to do with the ones it is not.
///
/// Apple, "Handling notification responses from APNs" and "Handling error responses from APNs"; where operators have
/// seen more than Apple writes, the row's text says so.
package enum ReasonTable {
    /// All rows: exact ones first, then those for a status whose reason is unknown or unreadable, then the catch-alls.
    package static let rows: [StatusReason] = Self.deviceRows + Self.broadcastRows + Self.statusRows + Self.unknownRows

    /// Status 200.
    package static let ok = StatusReason(
        200,
        "",
        .ok,
        meaning: "Apple accepted the notification. It does not promise that it was shown.",
        next: "Nothing. To see what the device did, use the delivery log of Apple's push console."
    )

    /// The row for an answer. Never fails: unknown answers have rows of their own.
    /// - Parameter api: what was asked. Its own rows go first: both APIs share most reasons, and some texts clash.
    package static func row(status: Int, reason: ApnsReason?, api: StatusReason.API = .device) -> StatusReason {
        if status == 200 { return Self.ok }
        if let reason, let row = Self.exact(status: status, reason: reason.text, api: api) { return row }
        if let row = Self.statusRows.first(where: { $0.status == status && $0.disposition.fits(api) }) { return row }
        switch status {
        case 200...299: return Self.unknownSuccess
        case 400...499: return Self.unknown4xx
        case 500...599: return Self.unknown5xx
        default: return Self.unknownOther
        }
    }

    private static func exact(status: Int, reason: String, api: StatusReason.API) -> StatusReason? {
        func isWanted(_ row: StatusReason) -> Bool { row.status == status && row.disposition.fits(api) }
        let (own, other) =
            api == .device ? (Self.deviceReasons, Self.broadcastReasons) : (Self.broadcastReasons, Self.deviceReasons)
        if let row = own[reason]?.first(where: isWanted) ?? other[reason]?.first(where: isWanted) { return row }
        // The broadcast page writes "Service Unavailable".
        return reason.contains(" ") ? Self.exact(status: status, reason: reason.filter { $0 != " " }, api: api) : nil
    }

    /// The rows of each reason: half of all answers may be refusals, and a table is not read through for each.
    private static let deviceReasons = Dictionary(grouping: Self.deviceRows, by: \.reason)
    private static let broadcastReasons = Dictionary(grouping: Self.broadcastRows, by: \.reason)

    /// The first row with this reason whatever its status: for GOAWAY debug data, which has none.
    package static func row(named reason: String) -> StatusReason? {
        if let row = Self.deviceReasons[reason]?.first ?? Self.broadcastReasons[reason]?.first { return row }
        return reason.contains(" ") ? Self.row(named: reason.filter { $0 != " " }) : nil
    }

    /// The rows to explain for what someone typed: a reason in any letter case, or a status.
    package static func explain(_ text: String) -> [StatusReason] {
        if let status = Int(text) {
            if status == 200 { return [Self.ok] }
            let rows = Self.rows.filter { $0.status == status }
            return rows.isEmpty && (100...599).contains(status) ? [Self.row(status: status, reason: nil)] : rows
        }
        let wanted = text.lowercased().filter { $0 != " " }
        return Self.rows.filter { !$0.reason.isEmpty && $0.reason.lowercased() == wanted }
    }

    /// The known reason nearest to a mistyped one.
    package static func nearest(to text: String) -> String? {
        EditDistance.nearest(
            to: Array(text.utf8),
            among: Self.rows.lazy.map(\.reason).filter { !$0.isEmpty },
            within: 3
        )
    }
}

extension StatusReason.Disposition {
    /// What speaks of a device token cannot be the answer to a broadcast, which names none.
    fileprivate func fits(_ api: StatusReason.API) -> Bool {
        api == .device || (self != .token && self != .context)
    }
}
