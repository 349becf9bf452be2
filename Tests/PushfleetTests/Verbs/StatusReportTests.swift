internal import Foundation
internal import Push
internal import Testing

@testable import Broker
@testable import Desk
@testable import Store
@testable import pushfleet

@Suite struct StatusReportTests {
    static let app = AppID("shop")!

    static func queues(_ depths: [String: BrokerSession.QueueDepth]) -> [QueueStatus] {
        QueueStatus.roles(apps: [Self.app], delays: [DelayLevel(milliseconds: 1000), DelayLevel(milliseconds: 5000)])
            .map { QueueStatus(name: $0.name, role: $0.role, depth: depths[$0.name]) }
    }

    static let depths: [String: BrokerSession.QueueDepth] = [
        "pushfleet.shop.now": .init(messages: 3, consumers: 2),
        "pushfleet.shop.bulk": .init(messages: 40, consumers: 0),
        "pushfleet.delay.1s": .init(messages: 0, consumers: 0), "pushfleet.delay.5s": .init(messages: 7, consumers: 0),
        "pushfleet.dead": .init(messages: 1, consumers: 0), "pushfleet.feedback": .init(messages: 0, consumers: 0),
        "pushfleet.unrouted": .init(messages: 0, consumers: 0),
        "pushfleet.suspect": .init(messages: 0, consumers: 0),
        "pushfleet.receipts": .init(messages: 0, consumers: 0),
    ]

    static let fleet = FleetStatus(
        time: UnixTime(seconds: 1000),
        lanes: [
            FleetStatus.Lane(
                app: "shop",
                lane: "now",
                fields: [
                    "received": 10, "delivered": 8, "dead_lettered": 3, "dead_lettered.BadTopic": 1,
                    "dead_lettered.expired": 2, "apns_latency.le_5": 8, "apns_latency.sum": 16,
                ]
            )
        ],
        workers: [
            WorkerBeat(
                id: "w1",
                [
                    "started_at": .integer(900_000), "last_beat": .integer(999_000), "host": .string(Array("h".utf8)),
                    "pid": .integer(7), "in_flight.shop.now": .integer(5), "connections_held.p": .integer(2),
                    "prefetch": .integer(1500), "paused.shop": .string(Array("suspects".utf8)),
                    "version": .string(Array("0.1.0".utf8)),
                ]
            )!
        ],
        pools: [
            FleetStatus.Pool(
                name: "p",
                quarantine: .seconds(2),
                leases: [
                    .init(worker: "w1", grant: 2, open: 2, want: 3, budget: 3, expires: UnixTime(seconds: 1010))
                ],
                counts: .init("9 2 5000 3 1")!
            )
        ]
    )

    @Test("people see what waits, what was done, budgets and workers")
    func lines() {
        let report = StatusReport(
            FleetSnapshot(queues: Self.queues(Self.depths), fleet: Self.fleet),
            budgets: [Budget(pool: "p", connections: 4)]
        )
        let lines = report.lines()
        #expect(
            lines.prefix(3) == [
                "app   lane  waiting  consumers", "shop  now         3          2", "shop  bulk       40          0",
            ]
        )
        #expect(!lines.contains { $0.hasPrefix("pushfleet.delay.1s") })
        #expect(lines.contains("pushfleet.delay.5s         7"))
        #expect(
            lines.contains { $0.split(separator: " ") == ["shop", "now", "10", "5", "0", "8", "0", "3", "0", "0"] }
        )
        let reasons = lines.filter { $0.contains("dead-lettered ") && $0.hasPrefix("shop") }
        #expect(reasons.map { $0.split(separator: " ").suffix(2) } == [["expired", "2"], ["BadTopic", "1"]])
        let notes =
            "workers go by 3, nothing new for 2s, waited 2 times, 2.5s on average, 3 reclaimed, 1 open without a lease"
        #expect(lines.contains { $0.contains(notes) })
        #expect(
            lines.last?.split(separator: " ") == [
                "w1", "h", "7", "0.1.0", "1m", "40s", "1s", "2", "5", "1500", "shop:", "suspects",
            ]
        )
    }

    @Test("the end of a certificate is told, the first one if workers hold several")
    func certificates() throws {
        var (old, new) = (Self.fleet.workers[0], Self.fleet.workers[0])
        old.certificatesExpireAt["p"] = UnixTime(seconds: 1000 + 12 * 86_400)
        new.certificatesExpireAt["p"] = UnixTime(seconds: 1000 + 400 * 86_400)
        var fleet = Self.fleet
        fleet.workers = [new, old]
        let report = StatusReport(FleetSnapshot(queues: nil, fleet: fleet), budgets: [])
        #expect(report.lines().contains { $0.contains("certificate until 1970-01-13, 12 days") })
        let object = try JSONSerialization.jsonObject(with: Terminal.encode(report)) as? [String: Any]
        let budget = (object?["budgets"] as? [[String: Any]])?.first
        #expect(budget?["certificate_expires_at_ms"] as? Int == (1000 + 12 * 86_400) * 1000)
    }

    @Test("programs see the same as JSON")
    func json() throws {
        let report = StatusReport(
            FleetSnapshot(queues: Self.queues(Self.depths), fleet: Self.fleet),
            budgets: [Budget(pool: "p", connections: 4)]
        )
        let object = try #require(
            try JSONSerialization.jsonObject(with: Terminal.encode(report)) as? [String: Any]
        )
        #expect(Set(object.keys) == ["queues", "lanes", "workers", "budgets", "paused_apps", "replicas", "time_ms"])
        let queues = try #require(object["queues"] as? [[String: Any]])
        #expect(queues.count == 9)
        #expect(
            queues.map { $0["kind"] as? String } == [
                "work", "work", "delay", "delay", "dead", "feedback", "suspect", "receipts", "unrouted",
            ]
        )
        let lane = try #require((object["lanes"] as? [[String: Any]])?.first)
        let counters = try #require(lane["counters"] as? [String: Int])
        #expect(Set(counters.keys) == Set(CounterField.allCases.map(\.rawValue)))
        #expect(counters["delivered"] == 8)
        #expect(lane["in_flight"] as? Int == 5)
        #expect(lane["dead_lettered_by_reason"] as? [String: Int] == ["BadTopic": 1, "expired": 2])
        #expect((lane["apns_latency"] as? [String: Any])?["count"] as? Int == 8)
        #expect((lane["end_to_end"] as? [String: Any])?["p99_ms"] == nil)
        #expect((object["workers"] as? [[String: Any]])?.first?["paused"] as? [String: String] == ["shop": "suspects"])
        // All that waits is of an app that the only worker has paused: more workers would help nobody.
        #expect(object["replicas"] as? [String: Int] == ["desired": 1, "useful": 3])
        #expect(queues[3]["oldest_ms"] as? Int == 5_000 && queues[2]["oldest_ms"] == nil)
        let budget = try #require((object["budgets"] as? [[String: Any]])?.first)
        #expect(budget["granted"] as? Int == 9 && budget["waited"] as? Int == 2)
        #expect(budget["wait_time_ms"] as? Int == 5000)
        #expect(budget["reclaimed"] as? Int == 3 && budget["overage"] as? Int == 1)
        #expect(budget["held"] as? Int == 2 && budget["in_force"] as? Int == 3 && budget["configured"] as? Int == 4)
    }

    @Test("paused apps are told with cause, since when, by whom and until when")
    func paused() throws {
        func pause(_ field: String, _ value: String) -> AppPause {
            AppPause(field: field, value: value, time: Self.fleet.time)!
        }
        var fleet = Self.fleet
        fleet.pauses = [
            pause("fault:shop", "1 suspects 970000 1005000 2 - 0 0 host:7\t"),
            pause("hand:shop", "1 hand 940000 0 0 - 0 0 me@here\twrong campaign"),
            pause("fault:news", "1 credential 970000 990000 2 w1 1003000 0 host:7\t"),
        ]
        let report = StatusReport(FleetSnapshot(queues: nil, fleet: fleet), budgets: [])
        let lines = report.lines()
        #expect(lines[0].split(separator: " ").prefix(5) == ["paused", "app", "cause", "for", "next"])
        #expect(lines[1].split(separator: " ") == ["shop", "suspects", "30s", "in", "5s", "host:7"])
        #expect(lines[2].split(separator: " ") == ["shop", "hand", "1m", "resume", "me@here", "wrong", "campaign"])
        #expect(lines[3].split(separator: " ") == ["news", "credential", "30s", "probing", "host:7"])
        let object = try JSONSerialization.jsonObject(with: Terminal.encode(report)) as? [String: Any]
        let apps = try #require(object?["paused_apps"] as? [[String: Any]])
        #expect(Set(apps[0].keys) == ["app", "cause", "since_ms", "until_ms", "by"])
        #expect(Set(apps[1].keys) == ["app", "cause", "since_ms", "by", "reason"])
        #expect(apps[2]["probed_by"] as? String == "w1")
    }

    @Test("resume tells what was and what still is")
    func resumed() {
        func pause(_ field: String, _ cause: String) -> AppPause {
            AppPause(field: field, value: "1 \(cause) 1 0 0 - 0 0 me\t", time: UnixTime(milliseconds: 1))!
        }
        let (hand, fault) = (pause("hand:shop", "hand"), pause("fault:shop", "suspects"))
        #expect(PauseReport(resumed: "shop", []).lines == ["shop was not paused"])
        #expect(PauseReport(resumed: "shop", [hand]).lines == ["shop goes on"])
        let goesOn = "shop is paused (suspects) and probed now; it goes on when a push goes through"
        #expect(PauseReport(resumed: "shop", [fault]).lines == [goesOn])
        let both = PauseReport(resumed: "shop", [hand, fault])
        #expect(both.lines == ["the pause of shop by hand is over", goesOn])
        #expect(both.paused && both.wasPausedByHand == true && both.cause == "suspects")
    }

    @Test("what did not answer is left out, what is missing is told")
    func partial() {
        let onlyRedis = StatusReport(FleetSnapshot(queues: nil, fleet: Self.fleet), budgets: [])
        #expect(!onlyRedis.lines().contains { $0.contains("waiting") })
        let onlyRabbit = StatusReport(FleetSnapshot(queues: Self.queues([:]), fleet: nil), budgets: [])
        #expect(onlyRabbit.lines().last == "Some queues do not exist: run pushfleet topology declare.")
        let fresh = FleetStatus(time: UnixTime(seconds: 1), lanes: [], workers: [], pools: [])
        let nothing = StatusReport(FleetSnapshot(queues: nil, fleet: fresh), budgets: [])
        #expect(
            nothing.lines() == [
                "Nothing has been counted yet.", "", "No budget yet: run pushfleet topology declare.", "",
                "No worker is running.",
            ]
        )
    }
}
