internal import Push

/// What it tells of what it saw.
extension PushService {
    var summary: LedgerSummary {
        let totals = self.ledger.totals
        return LedgerSummary(
            requests: totals.requests,
            accepted: totals.accepted,
            answered: totals.answered,
            withdrawn: totals.withdrawn,
            repeated: totals.repeated,
            duplicates: totals.duplicates,
            afterGone: totals.afterGone,
            dropped: totals.dropped,
            tokens: self.ledger.tokens.chains.count,
            ids: self.ledger.ids.chains.count,
            verdicts: self.ledger.verdicts,
            connectionsOpened: self.log.opened,
            connectionsOpen: self.log.open,
            connectionsPeak: self.log.peak,
            connectionsByKey: self.log.byKey,
            connectionsByTeam: self.log.byTeam,
            connectionsPerMinute: self.log.minutes,
            connectionsArrived: self.arrivals,
            connectionsRefused: self.gate.refused,
            traffic: self.connections.open.reduce(self.log.traffic) { $0 + $1.traffic },
            providerTokens: self.check.providerTokens.uses,
            ledgerBytes: self.ledger.footprint
        )
    }

    func records(_ filter: LedgerFilter) -> [LedgerRecord] {
        self.ledger.records(filter, ruleIDs: self.faults.ids)
    }

    func lastPush(to token: [UInt8], topic: [UInt8]?) -> LedgerRecord? {
        self.ledger.lastPush(to: token, topic: topic, ruleIDs: self.faults.ids)
    }

    func device(_ token: [UInt8], at now: UnixTime) -> DeviceReport {
        self.ledger.device(token, at: now, ruleIDs: self.faults.ids)
    }

    /// The connections that are open, and of those that are closed the newest, in the order of opening.
    func connectionRecords(limit: Int) -> [ConnectionRecord] {
        let open = self.connections.open.map { $0.record() }
        let closed = self.log.closed.suffix(max(0, limit - open.count))
        return (closed + open).sorted { $0.number < $1.number }.suffix(limit)
    }
}
