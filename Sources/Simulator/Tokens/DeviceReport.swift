internal import Push

/// What a device has of the pushes to one of its tokens.
///
/// Source: Apple, "Sending notification requests to APNs": one notification is stored for each app, normally the
/// newest, until it expires; those with one collapse id are shown as one.
package struct DeviceReport: Codable, Equatable, Sendable {
    package var token: String
    /// What the device would get now if it had been off all the time: the newest push of each topic, unless it was not
    /// to be stored or has expired.
    package var stored: [LedgerRecord]
    /// What is on its screen if it was on all the time: all that was accepted, with only the newest of those with one
    /// topic and collapse id; the newest first.
    package var shown: [LedgerRecord]
}

extension Ledger {
    /// - Parameters:
    ///   - now: to tell what has expired.
    ///   - limit: at most so many of the newest pushes are looked at.
    func device(_ token: [UInt8], at now: UnixTime, limit: Int = 1000, ruleIDs: [String]) -> DeviceReport {
        let filter = LedgerFilter(token: Hex.encode(token), accepted: true, limit: limit)
        var report = DeviceReport(token: Hex.encode(token), stored: [], shown: [])
        var topics: Set<String> = []
        var collapsed: Set<[String]> = []
        for var record in self.records(filter, ruleIDs: ruleIDs) where !record.withdrawn {
            record.body = self.body(of: record.sequence).map { String(decoding: $0, as: UTF8.self) }
            // The slot is taken by the newest that was to be stored, be it expired by now or not.
            if record.expiration != 0, topics.insert(record.topic).inserted,
                record.storedUntil > now
            {
                report.stored.append(record)
            }
            if let id = record.collapseID, !collapsed.insert([record.topic, id]).inserted { continue }
            report.shown.append(record)
        }
        return report
    }
}

extension LedgerRecord {
    /// Absent, it is Apple's policy: 30 days at most.
    fileprivate var storedUntil: UnixTime {
        self.expiration.map { UnixTime(seconds: $0) }
            ?? UnixTime(milliseconds: self.arrival) + .seconds(30 * 86_400)
    }
}
