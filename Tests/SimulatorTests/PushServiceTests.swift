import Push
import Testing

@testable import Simulator

@Suite final class PushServiceTests {
    private var service: PushService
    private var place = 0
    private var stream: Int32 = -1

    init() throws {
        var settings = PushService.Settings()
        settings.latency = .fixed(.milliseconds(30))
        self.service = PushService(settings: settings)
        try self.service.addKey(TestKey.shared.key)
        self.place = self.service.open(at: Self.moment())
    }

    private static func moment(_ milliseconds: Int64 = 0) -> PushService.Moment {
        PushService.Moment(
            wall: TestKey.now + .milliseconds(milliseconds),
            monotonic: MonotonicTime(nanoseconds: milliseconds * 1_000_000)
        )
    }

    private func moment(_ milliseconds: Int64 = 0) -> PushService.Moment {
        Self.moment(milliseconds)
    }

    private func receive(_ draft: PushDraft) -> Reaction {
        self.stream += 2
        return self.service.receive(draft.request, stream: self.stream, on: self.place, at: self.moment())
    }

    private func add(_ rule: FaultRule) {
        _ = self.service.addRule(rule, at: self.moment().monotonic)
    }

    private func answer(_ reaction: Reaction) -> Answer? {
        switch reaction.deed {
        case .answer(let answer): answer
        case .goAway(_, let answer): answer
        default: nil
        }
    }

    @Test func `A good push opens the streams and is answered after the latency`() throws {
        let id = "123e4567-e89b-12d3-a456-42665544000a"
        let reaction = self.receive(PushDraft().with("apns-id", id))
        let answer = try #require(self.answer(reaction))
        #expect(reaction.streamLimit == 1000)
        #expect(reaction.delay == .milliseconds(30))
        #expect(answer.status == 200)
        #expect(answer.id.text() == id && answer.isOwnID)
        #expect(answer.body.isEmpty)
        #expect(answer.uniqueID == nil)
        #expect(self.receive(PushDraft()).streamLimit == nil)
        self.service.ended(reaction.entry, on: self.place, isAnswered: true)
        let summary = self.service.summary
        #expect(summary.requests == 2 && summary.accepted == 2 && summary.answered == 1)
        #expect(self.service.connection(self.place)?.peakOpen == 2)
        #expect(self.service.connection(self.place)?.open == 1)
    }

    @Test func `A push without an id gets one`() throws {
        let first = try #require(self.answer(self.receive(PushDraft())))
        let second = try #require(self.answer(self.receive(PushDraft().with("apns-id", "nonsense"))))
        #expect(!first.isOwnID && !second.isOwnID)
        #expect(first.id != second.id)
        #expect(second.status == 400)
        let records = self.service.records(LedgerFilter(apnsID: first.id.text()))
        #expect(records.map(\.hasOwnID) == [false])
    }

    @Test func `Only the sandbox gives a unique id`() throws {
        var settings = PushService.Settings()
        settings.providerTokens.environment = .sandbox
        self.service = PushService(settings: settings)
        try self.service.addKey(TestKey.shared.key)
        self.place = self.service.open(at: self.moment())
        #expect(try #require(self.answer(self.receive(PushDraft()))).uniqueID != nil)
    }

    @Test func `A 410 carries its time in milliseconds`() throws {
        let time = UnixTime(milliseconds: 1_699_999_999_123)
        self.service.setToken([0xaa], topic: nil, to: .unregistered(at: time))
        let reaction = self.receive(PushDraft().to("AA"))
        let answer = try #require(self.answer(reaction))
        #expect(answer.status == 410)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1699999999123}"#)
        self.service.ended(reaction.entry, on: self.place, isAnswered: true)
        _ = self.receive(PushDraft().to("aa"))
        #expect(self.service.summary.afterGone == 1)
        self.service.setToken([0xaa], topic: nil, to: .active)
        _ = self.receive(PushDraft().to("aa"))
        #expect(self.service.summary.afterGone == 1)
        #expect(self.service.records(LedgerFilter(token: "AA")).map(\.status) == [200, 410, 410])
    }

    @Test func `A refusal names its reason`() throws {
        let answer = try #require(self.answer(self.receive(PushDraft().with("apns-topic", nil))))
        #expect(answer.status == 400)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"MissingTopic"}"#)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let action: FaultRule.Action
        var processes = false
        let status: Int?
        let accepted: Bool
    }

    static let rows = [
        Row(testDescription: "pass", action: .pass, status: 200, accepted: true),
        Row(
            testDescription: "answer",
            action: .answer(status: 503, reason: "ServiceUnavailable", body: nil),
            status: 503,
            accepted: false
        ),
        Row(
            testDescription: "answer that hides an acceptance",
            action: .answer(status: 500, reason: nil, body: "<html>"),
            processes: true,
            status: 500,
            accepted: true
        ),
        Row(
            testDescription: "answer 200",
            action: .answer(status: 200, reason: nil, body: nil),
            status: 200,
            accepted: true
        ),
        Row(testDescription: "reset", action: .reset(code: 7), status: nil, accepted: false),
        Row(testDescription: "drop", action: .drop, status: nil, accepted: false),
        Row(testDescription: "drop after acceptance", action: .drop, processes: true, status: nil, accepted: true),
        Row(testDescription: "close", action: .close, status: nil, accepted: false),
        Row(testDescription: "stall", action: .stall, status: nil, accepted: false),
        Row(
            testDescription: "goaway",
            action: .goAway(code: 0, debugData: "x", lastStream: .current),
            status: 200,
            accepted: true
        ),
        Row(
            testDescription: "goaway 0",
            action: .goAway(code: 0, debugData: "x", lastStream: .zero),
            processes: true,
            status: nil,
            accepted: false
        ),
        Row(
            testDescription: "goaway 1",
            action: .goAway(code: 0, debugData: "x", lastStream: .stream(1)),
            status: 200,
            accepted: true
        ),
    ]

    @Test(arguments: rows) func `The ledger knows what a fault did`(_ row: Row) throws {
        self.add(FaultRule(id: "fault", action: row.action, processes: row.processes))
        let reaction = self.receive(PushDraft())
        let record = try #require(self.service.records(LedgerFilter()).first)
        #expect(record.rule == "fault")
        #expect(record.status == row.status)
        #expect(record.accepted == row.accepted)
        #expect(!record.answered)
        #expect((self.answer(reaction)?.status).map { Int($0) } == row.status)
        switch (row.action, reaction.deed) {
        case (.pass, .answer), (.answer, .answer), (.drop, .drop), (.close, .close), (.stall, .stall): break
        case (.reset(let wanted, _), .reset(let code, nil)): #expect(code == wanted)
        case (.goAway(_, _, let wanted, _), .goAway(let farewell, _)):
            #expect(farewell == Farewell(code: 0, debugData: Array("x".utf8), lastStream: wanted))
        default: Issue.record("\(row.action) became \(reaction.deed)")
        }
    }

    @Test func `A fault's delay comes on top of the latency`() {
        self.add(FaultRule(action: .pass, delay: .milliseconds(7) ... .milliseconds(7)))
        #expect(self.receive(PushDraft()).delay == .milliseconds(37))
    }

    @Test func `An answer by rule comes as it was written`() throws {
        self.add(FaultRule(action: .answer(status: 429, reason: "Too \"many\"", body: nil)))
        let answer = try #require(self.answer(self.receive(PushDraft())))
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"Too \"many\""}"#)
    }

    @Test func `Connections are numbered, and their places used again`() {
        #expect(self.service.connection(self.place)?.number == 1)
        _ = self.receive(PushDraft())
        let second = self.service.open(at: self.moment())
        #expect(self.service.summary.connectionsPeak == 2)
        self.service.close(self.place, ending: "test", at: TestKey.now)
        let third = self.service.open(at: self.moment())
        #expect(third == self.place)
        self.service.note(ConnectionTraffic(pings: 1), on: third)
        self.service.note(ConnectionTraffic(pings: 1, resets: 3), on: second)
        let records = self.service.connectionRecords(limit: 10)
        #expect(records.map(\.number) == [1, 2, 3])
        #expect(records.map(\.ending) == ["test", nil, nil])
        #expect(records[0].keyID == TestKey.shared.id && records[1].keyID == nil)
        #expect(self.service.connectionRecords(limit: 2).map(\.number) == [2, 3])
        #expect(
            self.service.summary.connectionsByKey[TestKey.shared.id] == ConnectionCount(opened: 1, open: 0, peak: 1)
        )
        #expect(self.service.summary.traffic == ConnectionTraffic(pings: 2, resets: 3))
    }

    @Test func `New stream limits reach open connections`() {
        _ = self.receive(PushDraft())
        var streams = StreamLimit.Settings()
        streams.full = 10
        #expect(self.service.setStreams(streams).map(\.limit) == [10])
        #expect(self.service.reset().map(\.limit) == [1000])
        #expect(self.service.summary.requests == 0)
        #expect(self.service.summary.connectionsOpen == 1)
    }

    @Test func `What a GOAWAY took back counts as never having been`() {
        let draft = PushDraft().with("apns-id", "123e4567-e89b-12d3-a456-42665544000a")
        let first = self.receive(draft)
        self.service.withdraw(first.entry)
        _ = self.receive(draft)
        let summary = self.service.summary
        #expect(summary.accepted == 1 && summary.withdrawn == 1 && summary.repeated == 1 && summary.duplicates == 0)
    }

    @Test func `What a GOAWAY refused beforehand meets no rule and is not accepted`() {
        self.add(FaultRule(action: .drop))
        _ = self.service.ignore(PushDraft().request, stream: 9, on: self.place, at: self.moment())
        let summary = self.service.summary
        #expect(summary.requests == 1 && summary.accepted == 0 && summary.withdrawn == 1)
        #expect(self.service.faults.uses.map(\.hits) == [0])
    }

    @Test func `An id that is accepted twice is a duplicate`() {
        let draft = PushDraft().with("apns-id", "123e4567-e89b-12d3-a456-42665544000a")
        for _ in 0..<3 { _ = self.receive(draft) }
        #expect(self.service.summary.duplicates == 2)
        #expect(self.service.summary.ids == 1)
    }

    @Test func `A producer's list shows what was lost and what came twice`() {
        func id(_ number: UInt64) -> MessageID { MessageID(high: 9, low: number) }
        for number in [1, 1, 2, 3] as [UInt64] {
            _ = self.receive(PushDraft().to("0\(number)").with("apns-id", id(number).text()))
        }
        _ = self.receive(PushDraft().to("04").with("apns-id", id(4).text()).with("apns-topic", nil))
        let byID = self.service.ledger.compare(ids: [5, 4, 3, 2, 1, 1].map(id))
        #expect(byID.asked == 5 && byID.arrived == 4 && byID.accepted == 3)
        #expect(byID.missing == [id(5).text()] && byID.missingCount == 1)
        #expect(byID.refused == [id(4).text()] && byID.duplicated == [id(1).text()])
        let byToken = self.service.ledger.compare(tokens: [[1], [2], [4], [7]])
        #expect(byToken.missing == ["07"] && byToken.refused == ["04"] && byToken.duplicated == ["01"])
    }

    @Test func `A device has one push stored for each topic, and shows one for each collapse id`() {
        let push = PushDraft().to("aa")
        let voip = PushDraft(topic: "com.example.shop.voip").to("aa").with("apns-push-type", "voip")
        let drafts = [
            push.with("apns-collapse-id", "score"), push.with("apns-collapse-id", "score"), voip, push,
            voip.with("apns-expiration", "0"), push.with("apns-topic", nil),
        ]
        let entries = drafts.map { self.receive($0).entry }
        let report = self.service.device([0xaa], at: TestKey.now)
        #expect(report.stored.map(\.sequence) == [entries[3], entries[2]])
        #expect(report.shown.map(\.sequence) == [entries[4], entries[3], entries[2], entries[1]])
        #expect(report.stored.allSatisfy { $0.body != nil })
        _ = self.receive(push.with("apns-expiration", "\(TestKey.now.seconds + 60)"))
        #expect(self.service.device([0xaa], at: TestKey.now + .seconds(59)).stored.count == 2)
        // Expired, it has driven out the older one all the same.
        #expect(
            self.service.device([0xaa], at: TestKey.now + .seconds(61)).stored.map(\.topic) == ["com.example.shop.voip"]
        )
    }

    @Test func `The same seed and the same requests give the same faults`() throws {
        func run(_ seed: UInt64) throws -> [Reaction] {
            var settings = PushService.Settings()
            settings.seed = seed
            settings.latency = Latency(.milliseconds(1) ... .milliseconds(900))
            var service = PushService(settings: settings)
            try service.addKey(TestKey.shared.key)
            for index in 0..<3 {
                var rule = FaultRule(action: .reset(code: UInt32(index)), delay: .zero ... .seconds(5))
                rule.match.probability = 0.2
                _ = service.addRule(rule, at: self.moment().monotonic)
            }
            let place = service.open(at: self.moment())
            return (0..<200).map {
                service.receive(PushDraft().request, stream: Int32($0 * 2 + 1), on: place, at: self.moment())
            }
        }
        let first = try run(1)
        let same = try run(1)
        let other = try run(2)
        #expect(first == same)
        #expect(first != other)
    }

    @Test func `A rule on connections is not asked about requests, and the other way round`() {
        self.add(FaultRule(id: "connect", on: .connect, action: .drop))
        self.add(FaultRule(id: "request", on: .request, action: .drop))
        guard case .admitted(let fault?) = self.service.arrive(from: "a", open: 0, at: self.moment()) else {
            Issue.record("no fault")
            return
        }
        #expect(fault.number == 0)
        #expect(self.receive(PushDraft()).deed == .drop)
        #expect(self.service.faults.uses.map(\.hits) == [1, 1])
        #expect(self.service.records(LedgerFilter(rule: "request")).count == 1)
        #expect(self.service.records(LedgerFilter(rule: "connect")).isEmpty)
    }
}
