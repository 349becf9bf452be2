import Push
import Testing

@testable import Simulator

@Suite struct LedgerTests {
    /// The naive model: all there is to know, searched from end to end.
    private struct Model {
        struct Entry {
            var sequence: UInt64
            var id: MessageID
            var token: [UInt8]
            var topic: String
            var status: UInt16
            var reason: String?
            var accepted: Bool
            var answered = false
            var withdrawn = false
            var afterGone = false
            var connection: Int
            var body: [UInt8]
        }

        var all: [Entry] = []

        func kept(_ limit: Int) -> ArraySlice<Entry> { self.all.suffix(limit) }

        var duplicates: Int {
            Dictionary(grouping: self.all.filter(\.accepted), by: \.id).values.reduce(0) { $0 + $1.count - 1 }
        }

        var repeated: Int { self.all.count - Set(self.all.map(\.id)).count }
    }

    private static func arrival(_ entry: Model.Entry, stream: Int32) -> Ledger.Arrival {
        var draft = PushDraft(topic: entry.topic).to(Hex.encode(entry.token))
        draft.set("apns-id", entry.id.text())
        draft.body = entry.body
        return Ledger.Arrival(
            request: draft.request,
            messageID: entry.id,
            connection: entry.connection,
            stream: stream,
            time: UnixTime(milliseconds: Int64(entry.sequence)),
            status: entry.status,
            reason: entry.reason,
            isAccepted: entry.accepted,
            rule: nil,
            providerToken: nil
        )
    }

    @Test(arguments: [UInt64(11), 12, 13]) func `It tells what a naive list tells`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var ledger = Ledger(settings: Ledger.Settings(limit: 1_000_000, keptBodies: 50))
        var model = Model()
        var gone: Set<[UInt8]> = []
        let verdicts: [(UInt16, String?)] = [
            (200, nil), (200, nil), (200, nil), (400, "BadDeviceToken"), (410, "Unregistered"), (503, "Shutdown"),
            (0, nil),
        ]
        for step in 1...3000 {
            let (status, reason) = verdicts[Int(random.next() % UInt64(verdicts.count))]
            let token = [UInt8(random.next() % 200), 1]
            let topic = random.next() % 2 == 0 ? "a.b" : "a.c"
            var entry = Model.Entry(
                sequence: UInt64(step),
                id: MessageID(high: 0, low: random.next() % 1500),
                token: token,
                topic: topic,
                status: status,
                reason: reason,
                accepted: status == 200 || (status == 0 && random.next() % 2 == 0),
                connection: Int(random.next() % 5) + 1,
                body: Array("\(step)".utf8)
            )
            entry.afterGone = gone.contains(token + Array(topic.utf8))
            let sequence = ledger.record(Self.arrival(entry, stream: Int32(step)))
            #expect(sequence == UInt64(step))
            model.all.append(entry)
            // Something happens to one of the last few.
            let index = model.all.count - 1 - Int(random.next() % UInt64(min(20, model.all.count)))
            let chosen = model.all[index]
            switch random.next() % 4 {
            case 0 where !chosen.answered && !chosen.withdrawn && chosen.status != 0:
                ledger.answered(chosen.sequence)
                model.all[index].answered = true
                if chosen.status == 410 { gone.insert(chosen.token + Array(chosen.topic.utf8)) }
            case 1 where !chosen.answered:
                ledger.withdraw(chosen.sequence)
                model.all[index].withdrawn = true
                model.all[index].accepted = false
                model.all[index].status = 0
                model.all[index].reason = nil
            case 2 where random.next() % 50 == 0:
                ledger.isBack(chosen.token, topic: nil)
                gone = gone.filter { !$0.starts(with: chosen.token) }
            default: break
            }
        }
        let totals = ledger.totals
        #expect(totals.requests == 3000)
        #expect(totals.accepted == model.all.filter(\.accepted).count)
        #expect(totals.answered == model.all.filter(\.answered).count)
        #expect(totals.withdrawn == model.all.filter(\.withdrawn).count)
        #expect(totals.afterGone == model.all.filter(\.afterGone).count)
        #expect(totals.repeated == model.repeated)
        #expect(totals.duplicates == model.duplicates)
        let counts = Dictionary(grouping: model.all) { "\($0.status) \($0.reason ?? "")" }.mapValues(\.count)
        #expect(
            Dictionary(uniqueKeysWithValues: ledger.verdicts.map { ("\($0.status) \($0.reason ?? "")", $0.count) })
                == counts
        )
        for _ in 0..<300 {
            let filter = Self.filter(&random)
            let expected = model.all.reversed().filter { Self.fits($0, filter) }.prefix(filter.limit)
            let records = ledger.records(filter, ruleIDs: [])
            #expect(records.map(\.sequence) == expected.map(\.sequence), "seed \(seed), \(filter)")
            #expect(records.map(\.answered) == expected.map(\.answered))
            #expect(records.map(\.afterGone) == expected.map(\.afterGone))
        }
        for value in 0..<200 {
            let token = [UInt8(value), 1]
            let chain = ledger.tokens.chains[Digest.of(token)]
            #expect(Int(chain?.sent ?? 0) == model.all.count { $0.token == token })
            #expect(Int(chain?.accepted ?? 0) == model.all.count { $0.token == token && $0.accepted })
            let last = model.all.last { $0.token == token && $0.accepted }
            let found = ledger.lastPush(to: token, topic: nil, ruleIDs: [])
            #expect(found?.sequence == last?.sequence)
            let isKept = last.map { $0.sequence > 3000 - 50 } ?? false
            #expect(found?.body == (isKept ? last.map { String(decoding: $0.body, as: UTF8.self) } : nil))
        }
    }

    private static func filter(_ random: inout SeededRandom) -> LedgerFilter {
        var filter = LedgerFilter(limit: Int(random.next() % 40) + 1)
        if random.next() % 3 == 0 { filter.token = Hex.encode([UInt8(random.next() % 210), 1]).uppercased() }
        if random.next() % 3 == 0 { filter.topic = ["a.b", "a.c", "a.d"][Int(random.next() % 3)] }
        if random.next() % 4 == 0 {
            filter.apnsID = MessageID(high: 0, low: random.next() % 1500).text(upperCase: true)
        }
        if random.next() % 3 == 0 { filter.status = [200, 400, 410, 503, 0, 599][Int(random.next() % 6)] }
        if random.next() % 5 == 0 { filter.reason = ["Shutdown", "Unregistered", "Nonsense"][Int(random.next() % 3)] }
        if random.next() % 5 == 0 { filter.connection = Int(random.next() % 6) + 1 }
        if random.next() % 5 == 0 { filter.accepted = random.next() % 2 == 0 }
        if random.next() % 5 == 0 { filter.answered = random.next() % 2 == 0 }
        if random.next() % 4 == 0 { filter.before = random.next() % 3300 }
        return filter
    }

    private static func fits(_ entry: Model.Entry, _ filter: LedgerFilter) -> Bool {
        (filter.token.map { Hex.encode(entry.token) == $0.lowercased() } ?? true)
            && (filter.topic.map { $0 == entry.topic } ?? true)
            && (filter.apnsID.map { $0.lowercased() == entry.id.text() } ?? true)
            && (filter.status.map { $0 == Int(entry.status) } ?? true)
            && (filter.reason.map { $0 == entry.reason } ?? true)
            && (filter.connection.map { $0 == entry.connection } ?? true)
            && (filter.accepted.map { $0 == entry.accepted } ?? true)
            && (filter.answered.map { $0 == entry.answered } ?? true)
            && entry.sequence < filter.before ?? .max
    }

    private func entry(_ step: Int, id: UInt64, token: [UInt8] = [1]) -> Model.Entry {
        Model.Entry(
            sequence: UInt64(step),
            id: MessageID(high: 1, low: id),
            token: token,
            topic: "a.b",
            status: 200,
            accepted: true,
            connection: 1,
            body: []
        )
    }

    @Test func `The oldest entries are dropped and counted, and the totals count on`() throws {
        var ledger = Ledger(settings: Ledger.Settings(limit: 5000, keptBodies: 0))
        for step in 1...10_000 {
            let token = [UInt8(truncatingIfNeeded: step), UInt8(truncatingIfNeeded: step >> 8)]
            _ = ledger.record(Self.arrival(self.entry(step, id: UInt64(step), token: token), stream: 1))
        }
        #expect(ledger.count == 5000)
        #expect(ledger.first == 5001)
        #expect(ledger.totals.dropped == 5000)
        #expect(ledger.totals.requests == 10_000)
        #expect(ledger.tokens.chains.count == 5000)
        #expect(ledger.ids.chains.count == 5000)
        #expect(ledger.records(LedgerFilter(limit: 10_000), ruleIDs: []).map(\.sequence).last == 5001)
        let old = LedgerFilter(apnsID: MessageID(high: 1, low: 1).text())
        #expect(ledger.records(old, ruleIDs: []).isEmpty)
        let new = LedgerFilter(apnsID: MessageID(high: 1, low: 10_000).text())
        #expect(ledger.records(new, ruleIDs: []).count == 1)
        ledger.answered(1)
        #expect(ledger.totals.answered == 1)
    }

    @Test func `A full ledger needs less than 300 bytes per entry`() {
        var ledger = Ledger(settings: Ledger.Settings(limit: 20_000, keptBodies: 0))
        var random = SeededRandom(seed: 1)
        for step in 1...25_000 {
            let token = (0..<4).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
            let entry = self.entry(step, id: random.next(), token: token)
            let draft = PushDraft(topic: "com.example.shop").to(Hex.encode(token)).with("apns-id", entry.id.text())
            var arrival = Self.arrival(entry, stream: 1)
            arrival.request = draft.request
            _ = ledger.record(arrival)
        }
        #expect(ledger.footprint / 20_000 < 300)
    }

    @Test func `A reset forgets, and late answers to what it forgot do not count`() {
        var ledger = Ledger(settings: Ledger.Settings())
        let first = ledger.record(Self.arrival(self.entry(1, id: 1), stream: 1))
        ledger.reset()
        ledger.answered(first)
        ledger.withdraw(first)
        #expect(ledger.totals == LedgerTotals())
        #expect(ledger.records(LedgerFilter(), ruleIDs: []).isEmpty)
        let second = ledger.record(Self.arrival(self.entry(2, id: 1), stream: 3))
        #expect(second == first + 1)
        #expect(ledger.totals.repeated == 0)
        #expect(ledger.records(LedgerFilter(), ruleIDs: []).map(\.stream) == [3])
    }

    @Test func `A connection log knows the peaks`() {
        var log = ConnectionLog()
        let key = TestKey.shared.key
        func record(_ number: Int, isBound: Bool) -> ConnectionRecord {
            var connection = Connection(
                number: number,
                openedAt: PushService.Moment(wall: UnixTime(milliseconds: 0), monotonic: MonotonicTime(nanoseconds: 0)),
                source: "",
                streamLimit: StreamLimit(settings: StreamLimit.Settings())
            )
            if isBound, let registered = try? RegisteredKey(key) {
                connection.binding.bind(to: registered, topics: TopicRules(bundleIDs: nil))
            }
            connection.traffic = ConnectionTraffic(pings: 2, refusedStreams: 1)
            return connection.record(closedAt: 1, ending: "test")
        }
        for minute in [0, 0, 1] { log.didOpen(at: UnixTime(seconds: Int64(minute) * 60 + 5)) }
        log.didBind(to: key)
        log.didBind(to: key)
        log.didClose(record(1, isBound: true))
        log.didClose(record(2, isBound: false))
        log.didOpen(at: UnixTime(seconds: 70))
        log.didBind(to: key)
        #expect(log.peak == 3)
        #expect(log.open == 2)
        #expect(log.opened == 4)
        #expect(log.traffic == ConnectionTraffic(pings: 4, refusedStreams: 2))
        #expect(log.byKey[key.id] == ConnectionCount(opened: 3, open: 2, peak: 2))
        #expect(log.byTeam[key.team] == ConnectionCount(opened: 3, open: 2, peak: 2))
        #expect(log.minutes == [MinuteCount(minute: 0, count: 2), MinuteCount(minute: 60, count: 2)])
        log.reset()
        #expect(log.peak == 2 && log.open == 2)
        #expect(log.byKey[key.id] == ConnectionCount(opened: 2, open: 2, peak: 2))
    }
}
