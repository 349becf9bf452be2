internal import Push
internal import Testing

@testable import Broker
@testable import Desk
@testable import Store

@Suite struct QueueAgeTests {
    private static let now = UnixTime(seconds: 1_000)

    private static func age(
        _ role: QueueStatus.Role,
        messages: Int? = 1,
        received: Int64? = nil,
        empty: Int64? = nil
    ) -> Duration? {
        QueueAge.estimate(
            QueueStatus(
                name: "q",
                role: role,
                depth: messages.map { BrokerSession.QueueDepth(messages: $0, consumers: 0) }
            ),
            receivedUntil: received.map { UnixTime(seconds: $0) },
            emptyAt: empty.map { UnixTime(seconds: $0) },
            now: Self.now
        )
    }

    @Test func `The smaller bound counts, and what is not known is not zero`() throws {
        let work = QueueStatus.Role.work(app: try #require(AppID("shop")), lane: .now)
        #expect(Self.age(work, messages: 0, received: 1) == nil)
        #expect(Self.age(work, messages: nil, received: 1) == nil)
        #expect(Self.age(work) == nil)
        #expect(Self.age(work, received: 940) == .seconds(60))
        #expect(Self.age(work, received: 10, empty: 998) == .seconds(2))
        #expect(Self.age(work, received: 1_005) == .zero, "a publisher's clock goes ahead")
        let level = QueueStatus.Role.delay(DelayLevel(milliseconds: 90_000))
        #expect(Self.age(level) == .seconds(90) && Self.age(level, empty: 970) == .seconds(30))
        #expect(Self.age(.dead) == nil && Self.age(.dead, empty: 400) == .seconds(600))
    }

    @Test func `A queue finds its lane's last receipt, and no other's`() throws {
        let app = try #require(AppID("shop"))
        var lane = FleetStatus.Lane(app: "shop", lane: "bulk", fields: [:])
        lane.receivedUntil = UnixTime(seconds: 990)
        let queues = Lane.allCases.map { lane in
            QueueStatus(
                name: lane.rawValue,
                role: .work(app: app, lane: lane),
                depth: .init(messages: 3, consumers: 0)
            )
        }
        let fleet = FleetStatus(time: Self.now, lanes: [lane], workers: [], pools: [])
        #expect(QueueAge.all(queues, fleet: fleet, emptyAt: [:], now: Self.now) == ["bulk": 10_000])
    }
}
