internal import Push

extension Ledger {
    /// The entries that fit, the newest first.
    func records(_ filter: LedgerFilter, ruleIDs: [String]) -> [LedgerRecord] {
        guard let wanted = Wanted(filter, in: self, ruleIDs: ruleIDs) else { return [] }
        var found: [LedgerRecord] = []
        var cursor = wanted.start(in: self)
        while let sequence = cursor, found.count < filter.limit {
            guard let (entry, block) = self.entry(sequence) else { break }
            if sequence < filter.before ?? .max, wanted.holds(for: entry, in: block) {
                found.append(self.record(sequence, entry, block, ruleIDs: ruleIDs))
            }
            cursor = wanted.step(from: sequence, entry)
        }
        return found
    }

    /// The newest entry for a token that was accepted, with its body if that is still kept.
    func lastPush(to token: [UInt8], topic: [UInt8]?, ruleIDs: [String]) -> LedgerRecord? {
        var cursor = self.tokens.chains[Digest.of(token)]?.newest
        while let sequence = cursor, let (entry, block) = self.entry(sequence) {
            if entry.flags.contains(.accepted), block.token(of: entry) == token[...],
                topic.map({ block.topic(of: entry) == $0[...] }) ?? true
            {
                var record = self.record(sequence, entry, block, ruleIDs: ruleIDs)
                record.body = self.body(of: sequence).map { String(decoding: $0, as: UTF8.self) }
                return record
            }
            cursor = entry.previousWithToken == 0 ? nil : sequence - UInt64(entry.previousWithToken)
        }
        return nil
    }

    /// How often each status and reason was, or is going to be, told.
    var verdicts: [VerdictCount] {
        var counts = self.totals.byVerdict.filter { $0.value > 0 }.map { key, count in
            VerdictCount(
                status: Int(key >> 16),
                reason: key & 0xffff == 0 ? nil : self.reasons[Int(key & 0xffff)],
                count: count
            )
        }
        if self.totals.good > 0 { counts.append(VerdictCount(status: 200, reason: nil, count: self.totals.good)) }
        return counts.sorted { ($0.status, $0.reason ?? "") < ($1.status, $1.reason ?? "") }
    }

    private func record(
        _ sequence: UInt64,
        _ entry: LedgerEntry,
        _ block: LedgerBlock,
        ruleIDs: [String]
    ) -> LedgerRecord {
        let collapseID = block.collapseID(of: entry)
        let isBroadcast = entry.flags.contains(.broadcast)
        return LedgerRecord(
            sequence: sequence,
            arrival: entry.arrival,
            connection: Int(entry.connection),
            stream: Int(entry.stream),
            apnsID: entry.messageID.text(),
            hasOwnID: entry.flags.contains(.hasOwnID),
            token: isBroadcast ? "" : Hex.encode(block.token(of: entry)),
            channel: isBroadcast ? String(decoding: block.token(of: entry), as: UTF8.self) : nil,
            topic: String(decoding: block.topic(of: entry), as: UTF8.self),
            pushType: PushKind(rawValue: entry.pushType)?.name,
            priority: entry.priority == 0 ? nil : Int(entry.priority),
            expiration: entry.expiration == .min ? nil : entry.expiration,
            collapseID: collapseID.isEmpty ? nil : String(decoding: collapseID, as: UTF8.self),
            bodyBytes: Int(entry.bodyBytes),
            status: entry.status == 0 ? nil : Int(entry.status),
            reason: entry.reason == 0 ? nil : self.reasons[Int(entry.reason)],
            accepted: entry.flags.contains(.accepted),
            answered: entry.flags.contains(.answered),
            withdrawn: entry.flags.contains(.withdrawn),
            afterGone: entry.flags.contains(.afterGone),
            rule: entry.rule == 0 ? nil : ruleIDs[Int(entry.rule) - 1],
            providerToken: entry.providerToken == 0 ? nil : Int(entry.providerToken) - 1,
            body: nil
        )
    }
}

/// How often a status came with a reason.
package struct VerdictCount: Codable, Equatable, Sendable {
    /// 0: no answer was meant to be given.
    package var status: Int
    package var reason: String?
    package var count: Int
}

/// A filter in the ledger's own terms.
private struct Wanted {
    private let token: [UInt8]?
    private let topic: [UInt8]?
    private let messageID: MessageID?
    private let channel: [UInt8]?
    private let status: UInt16?
    private let reason: UInt16?
    private let connection: UInt32?
    private let accepted: Bool?
    private let answered: Bool?
    private let afterGone: Bool?
    /// The numbers under which a rule of this id was known, plus one.
    private let rules: Set<UInt16>?
    private let before: UInt64

    /// - Returns: nil when nothing can fit.
    init?(_ filter: LedgerFilter, in ledger: Ledger, ruleIDs: [String]) {
        var reason: UInt16?
        if let text = filter.reason {
            guard let known = ledger.reasons.firstIndex(of: text) else { return nil }
            reason = UInt16(known)
        }
        var messageID: MessageID?
        if let text = filter.apnsID {
            guard let known = MessageID(Array(text.utf8)) else { return nil }
            messageID = known
        }
        var token: [UInt8]?
        if let text = filter.token {
            guard let known = Hex.decode(Array(text.utf8)) else { return nil }
            token = known
        }
        self.token = token
        self.topic = filter.topic.map { Array($0.utf8) }
        self.channel = filter.channel.map { Array($0.utf8) }
        self.messageID = messageID
        self.status = filter.status.map { UInt16(clamping: $0) }
        self.reason = reason
        self.connection = filter.connection.map { UInt32(clamping: $0) }
        self.accepted = filter.accepted
        self.answered = filter.answered
        self.afterGone = filter.afterGone
        self.rules = filter.rule.map { id in Set(ruleIDs.indices.filter { ruleIDs[$0] == id }.map { UInt16($0 + 1) }) }
        self.before = filter.before ?? .max
    }

    /// The newest entry that may fit.
    func start(in ledger: Ledger) -> UInt64? {
        if let messageID = self.messageID { return ledger.ids.chains[Digest.of(messageID)]?.newest }
        if let token = self.token, !token.isEmpty { return ledger.tokens.chains[Digest.of(token)]?.newest }
        let end = min(ledger.next, self.before)
        return end > ledger.first ? end - 1 : nil
    }

    /// The next older entry that may fit.
    func step(from sequence: UInt64, _ entry: LedgerEntry) -> UInt64? {
        if self.messageID != nil {
            return entry.previousWithID == 0 ? nil : sequence - UInt64(entry.previousWithID)
        }
        if let token = self.token, !token.isEmpty {
            return entry.previousWithToken == 0 ? nil : sequence - UInt64(entry.previousWithToken)
        }
        return sequence == 0 ? nil : sequence - 1
    }

    func holds(for entry: LedgerEntry, in block: LedgerBlock) -> Bool {
        if let status = self.status, entry.status != status { return false }
        if let reason = self.reason, entry.reason != reason { return false }
        if let connection = self.connection, entry.connection != connection { return false }
        if let accepted = self.accepted, entry.flags.contains(.accepted) != accepted { return false }
        if let answered = self.answered, entry.flags.contains(.answered) != answered { return false }
        if let afterGone = self.afterGone, entry.flags.contains(.afterGone) != afterGone { return false }
        if let rules = self.rules, !rules.contains(entry.rule) { return false }
        if let messageID = self.messageID, entry.messageID != messageID { return false }
        if let token = self.token, block.token(of: entry) != token[...] { return false }
        if let topic = self.topic, block.topic(of: entry) != topic[...] { return false }
        if let channel = self.channel {
            guard entry.flags.contains(.broadcast), block.token(of: entry) == channel[...] else { return false }
        }
        return true
    }
}
