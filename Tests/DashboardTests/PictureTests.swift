import Broker
import Desk
import Foundation
import Push
import Testing

@testable import Dashboard
@testable import Store

@Suite struct PictureTests {
    private static let time = UnixTime(milliseconds: 1_767_225_600_000)
    private static let shop = "com.example.shop"
    private static let hostile = "<img src=x onerror=alert(1)>"

    private static var configured: ConfiguredFleet {
        var main = ConfiguredFleet.Credential(
            name: "main",
            kind: .certificate,
            environment: "production",
            pool: "production.shop",
            maxConnections: 10
        )
        main.expiresAt = Self.time + .seconds(9 * 86_400 + 60)
        let apps = [Self.shop, "com.example.quiet"].map { id in
            ConfiguredFleet.App(id: id, origin: .file, credential: "main", settings: ["bundle_id": id])
        }
        return ConfiguredFleet(apps: apps, credentials: [main], delays: [DelayLevel(milliseconds: 10_000)])
    }

    private static var status: FleetStatus {
        var worker = WorkerBeat(id: InstanceID(), version: "1", host: "h", pid: 7, startedAt: Self.time)
        worker.inFlight = ["\(Self.shop).now": 3, "\(Self.shop).bulk": 4]
        let fields: [String: Int64] = [
            "received": 100, "delivered": 90, "retried": 5, "dead_lettered": 2, "answered.BadDeviceToken": 2,
            "answered.Unregistered": 7, "dead_lettered.suspect_token": 2, "apns_latency.le_50": 90,
            "apns_latency.sum": 3600,
        ]
        return FleetStatus(
            time: Self.time,
            lanes: [
                FleetStatus.Lane(app: Self.hostile, lane: "now", fields: ["delivered": 1]),
                FleetStatus.Lane(app: Self.shop, lane: "now", fields: fields),
            ],
            workers: [worker],
            pools: [],
            pauses: [
                AppPause(
                    field: "fault:\(Self.shop)",
                    value: "1 credential 1767225000000 1767225660000 1 - 0 x h:1\t403 InvalidProviderToken",
                    time: Self.time
                )
            ].compactMap { $0 }
        )
    }

    private static func queues(dead: Int = 4) throws -> [QueueStatus] {
        let app = try #require(AppID(Self.shop))
        return [
            QueueStatus(name: "a", role: .work(app: app, lane: .now), depth: .init(messages: 5, consumers: 2)),
            QueueStatus(name: "b", role: .work(app: app, lane: .bulk), depth: .init(messages: 6, consumers: 1)),
            QueueStatus(name: "c", role: .delay(DelayLevel(milliseconds: 10_000)), depth: nil),
            QueueStatus(name: "pushfleet.dead", role: .dead, depth: .init(messages: dead, consumers: 0)),
        ]
    }

    private static func picture(
        status: FleetStatus? = Self.status,
        queues: [QueueStatus]?
    ) -> FleetPicture {
        FleetPicture(
            configured: Self.configured,
            begun: MonotonicTime(nanoseconds: 1),
            status: status.map { .success($0) } ?? .failure(SourceFailure(text: "connection refused")),
            queues: queues.map { .success($0) } ?? .failure(SourceFailure(text: "connection refused")),
            wallTime: Self.time + .seconds(5)
        )
    }

    private static var series: FleetSeries {
        let start = Self.time.minute - 60
        var series = FleetSeries(start: start, length: 60)
        series.add(["delivered": 4, "apns_latency.le_50": 2], minute: start, lane: "now")
        series.add(["delivered": 6, "answered.Unregistered": 3], minute: start + 59, lane: "bulk")
        return series
    }

    private static func picture(empty: [String: UnixTime]) throws -> FleetPicture {
        var status = Self.status
        status.lanes[1].receivedUntil = Self.time - .seconds(40)
        status.workers[0].isDraining = true
        status.workers[0].paused = ["com.example.quiet": "outage"]
        status.workers[0].pausedSince = ["com.example.quiet": Self.time - .seconds(7)]
        return FleetPicture(
            configured: Self.configured,
            begun: MonotonicTime(nanoseconds: 1),
            status: .success(status),
            queues: .success(try Self.queues()),
            wallTime: Self.time,
            series: Self.series,
            emptyAt: empty
        )
    }

    private static func object(_ value: some Encodable) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(Answer.encode(value))) as? [String: Any])
    }

    @Test func `the overview has what both know`() throws {
        let overview = try Self.object(Overview(Self.picture(queues: try Self.queues())))
        #expect(overview["time_ms"] as? Int64 == Self.time.milliseconds)
        let counts = try #require(overview["counts"] as? [String: Int])
        #expect(
            counts == [
                "apps": 3, "paused_apps": 1, "workers": 1, "connections_held": 0, "connections_allowed": 10,
                "in_flight": 7, "waiting": 11, "delayed": 0, "dead": 4,
            ]
        )
        let outcomes = try #require(overview["outcomes"] as? [String: [String: Int]])
        #expect(outcomes["delivered"] == ["total": 91])
        #expect(outcomes["possible_duplicates"] == ["total": 0])
        let latency = try #require(overview["apns_latency"] as? [String: Double])
        #expect(latency["count"] == 90 && latency["mean_ms"] == 40)
        let reasons = try #require(overview["reasons"] as? [[String: Any]])
        #expect(reasons.first?["reason"] as? String == "Unregistered")
        let subjects = try #require(overview["findings"] as? [[String: Any]]).map { $0["subject"] as? String }
        #expect(subjects == [Self.shop, "queues", "dead letters"])
    }

    @Test func `without Redis, or RabbitMQ, its part is left out and not zero`() throws {
        let withoutRedis = try Self.object(Overview(Self.picture(status: nil, queues: try Self.queues())))
        #expect(Set((withoutRedis["counts"] as? [String: Int] ?? [:]).keys) == ["waiting", "delayed", "dead"])
        #expect(withoutRedis["outcomes"] == nil && withoutRedis["apns_latency"] == nil)
        #expect(withoutRedis["time_ms"] as? Int64 == Self.time.milliseconds + 5000)
        let sources = try #require(withoutRedis["sources"] as? [String: [String: Any]])
        #expect(sources["redis"]?["ok"] as? Bool == false && sources["rabbitmq"]?["ok"] as? Bool == true)

        let picture = Self.picture(queues: nil)
        let withoutBroker = try Self.object(Overview(picture))
        let counts = try #require(withoutBroker["counts"] as? [String: Int])
        #expect(counts["waiting"] == nil && counts["dead"] == nil && counts["workers"] == 1)
        let row = try Self.object(try #require(picture.app(Self.shop)))
        #expect(row["waiting"] == nil && row["in_flight"] as? Int == 7)
        #expect(throws: Problem.brokerAway("does not answer: connection refused")) { try picture.allQueues() }
        #expect(throws: Problem.redisAway("does not answer: connection refused")) {
            try Self.picture(status: nil, queues: nil).fleet()
        }
    }

    @Test func `apps are found, sorted and cut into pages that neither repeat nor miss one`() throws {
        let rows = Self.picture(queues: try Self.queues()).apps
        #expect(rows.map(\.app) == [Self.hostile, "com.example.quiet", Self.shop])
        func found(_ query: String) throws -> [String] {
            try AppQuestion(try Parameters(query, of: .apps)).select(rows).map(\.app)
        }
        #expect(try found("q=EXAMPLE") == ["com.example.quiet", Self.shop])
        #expect(try found("q=main&state=paused") == [Self.shop])
        #expect(try found("state=waiting") == [Self.shop])
        #expect(try found("sort=delivered") == [Self.shop, Self.hostile, "com.example.quiet"])
        #expect(try found("q=nothing") == [])
        let pages = (0..<4).flatMap { PageReport(rows, Page(offset: $0, limit: 1), at: 0).items.map(\.app) }
        #expect(pages == rows.map(\.app))
        #expect(PageReport(rows, Page(offset: 99, limit: 1), at: 0).total == 3)
    }

    @Test func `all about an app: both lanes, its settings, its pause`() throws {
        let picture = Self.picture(queues: try Self.queues())
        let row = try #require(picture.app(Self.shop))
        let detail = try Self.object(AppDetail(row, picture, Self.status))
        let lanes = try #require(detail["lanes"] as? [[String: Any]])
        #expect(lanes.map { $0["lane"] as? String } == ["now", "bulk"])
        #expect(lanes.map { $0["waiting"] as? Int } == [5, 6])
        #expect(lanes.map { $0["in_flight"] as? Int } == [3, 4])
        #expect((lanes[0]["counters"] as? [String: Int])?["tokens_gone"] == 0)
        #expect(detail["settings"] as? [String: String] == ["bundle_id": Self.shop])
        let paused = try #require(detail["paused"] as? [String: Any])
        #expect(paused["cause"] as? String == "credential" && paused["reason"] as? String == "403 InvalidProviderToken")
    }

    @Test func `a credential is judged by refusals first, then by its end`() throws {
        let refused = try #require(CredentialReport.all(Self.picture(queues: nil)).first)
        #expect(refused.state == "fail" && refused.pausedApps == 1 && refused.apps == 2)
        var status = Self.status
        status.pauses = []
        let ending = try #require(CredentialReport.all(Self.picture(status: status, queues: nil)).first)
        #expect(ending.state == "warn" && ending.text == "the certificate ends in 9 days")
        var later = status
        later.time = Self.time + .seconds(10 * 86_400)
        #expect(CredentialReport.all(Self.picture(status: later, queues: nil)).first?.state == "fail")
        later.time = Self.time - .seconds(60 * 86_400)
        #expect(CredentialReport.all(Self.picture(status: later, queues: nil)).first?.state == "ok")
    }

    @Test func `reasons are counted where they are known, once`() throws {
        func reason(_ name: String, _ source: ExplainedReason.Source, broadcast: Bool = false) -> ExplainedReason {
            ExplainedReason(
                reason: name,
                source: source,
                isBroadcast: broadcast,
                status: nil,
                meaning: "",
                nextStep: "",
                handling: ""
            )
        }
        let reasons = [
            reason("Unregistered", .apns, broadcast: true), reason("Unregistered", .apns),
            reason("suspect_token", .deadLetter), reason("expired", .deadLetter),
        ]
        let counted = CountedReason.all(reasons, Self.status.lanes)
        #expect(counted.map(\.total) == [7, 2, 0, 0])
        #expect(counted[0].isBroadcast == false && counted[0].apps == [Self.shop])
        #expect(counted[2].apps == nil)
    }

    @Test func `the ladder ascends, and a queue that is missing has no number`() throws {
        let ladder = Ladder(try Self.queues(), at: Self.time)
        #expect(ladder.levels == [Ladder.Level(name: "10s", delayMs: 10_000, messages: nil)])
        #expect(ladder.queues.map(\.kind) == ["work", "work", "dead"])
        #expect(ladder.queues.map(\.messages) == [5, 6, 4])
    }

    @Test func `minutes, hours and ages are told where they are known`() throws {
        let picture = try Self.picture(empty: ["b": Self.time - .seconds(3)])
        let overview = try Self.object(Overview(picture))
        let outcomes = try #require(overview["outcomes"] as? [String: [String: Int]])
        #expect(outcomes["delivered"] == ["minute": 6, "hour": 10, "total": 91])
        #expect(overview["oldest"] as? [String: Int] == ["now_ms": 40_000, "bulk_ms": 3_000])
        let series = try #require(overview["series"] as? [String: Any])
        #expect(series["start_ms"] as? Int64 == Self.time.milliseconds - 3_600_000)
        #expect(series["step_ms"] as? Int == 60_000)
        let delivered = try #require(series["delivered"] as? [Any])
        #expect(delivered.count == 60 && delivered[0] as? Int == 4 && delivered[1] is NSNull)
        #expect((series["apns_p50_ms"] as? [Any])?[0] as? Double == 37.5)
        let reasons = try #require(overview["reasons"] as? [[String: Any]])
        #expect(reasons.first?["reason"] as? String == "Unregistered" && reasons.first?["hour"] as? Int == 3)
        #expect(picture.app(Self.shop)?.oldestMs == 40_000)
        let ladder = Ladder(try picture.allQueues(), ages: picture.ages, at: picture.time)
        #expect(ladder.queues.map(\.oldestMs) == [40_000, 3_000, nil])
    }

    @Test func `apps are sorted by their minutes as soon as these are known`() throws {
        var minutes = AppMinutes()
        minutes.turn(to: Self.time + .seconds(5))
        let newest = Self.time.minute - 1
        minutes.add(newest, [Self.hostile: .init(delivered: 9, retried: 1, deadLettered: 2)])
        func picture(_ minutes: AppMinutes) throws -> FleetPicture {
            FleetPicture(
                configured: Self.configured,
                begun: MonotonicTime(nanoseconds: 1),
                status: .success(Self.status),
                queues: .success(try Self.queues()),
                wallTime: Self.time,
                minutes: minutes,
                oldestDead: Self.time - .seconds(90)
            )
        }
        func found(_ query: String, _ picture: FleetPicture) throws -> [String] {
            try AppQuestion(try Parameters(query, of: .apps)).select(picture.apps).map(\.app)
        }
        let early = try picture(minutes)
        #expect(try found("sort=delivered", early) == [Self.hostile, Self.shop, "com.example.quiet"])
        #expect(try found("sort=dead&state=dead", early) == [Self.shop], "the hour is not whole: by totals")
        let overview = try Self.object(Overview(early))
        let busiest = try #require(overview["busiest"] as? [[String: Any]])
        #expect(busiest.map { $0["delivered_minute"] as? Int } == [9, 0])
        #expect((busiest[0]["series"] as? [Any])?.count == 30)
        #expect((overview["oldest"] as? [String: Int])?["dead_ms"] == 90_000)
        #expect(Ladder(try early.allQueues(), ages: early.ages, at: early.time).queues.last?.oldestMs == 90_000)
        for minute in (newest - 59)..<newest { minutes.add(minute, [:]) }
        let late = try picture(minutes)
        #expect(try found("sort=dead&state=dead", late) == [Self.hostile])
        let row = try Self.object(try #require(late.app(Self.hostile)))
        #expect(row["retried_hour"] as? Int == 1 && row["dead_lettered_hour"] as? Int == 2)
        #expect(try Self.object(try #require(early.app(Self.shop)))["retried_hour"] == nil)
    }

    @Test func `an app's own minutes come with it, without latencies`() throws {
        let picture = try Self.picture(empty: [:])
        let row = try #require(picture.app(Self.shop))
        let detail = try Self.object(AppDetail(row, picture, try picture.fleet(), minutes: Self.series))
        #expect(detail["delivered_minute"] as? Int == 6 && detail["retried_hour"] as? Int == 0)
        #expect((detail["series"] as? [Any])?.count == 30)
        let minutes = try #require(detail["minutes"] as? [String: Any])
        #expect((minutes["delivered"] as? [Any])?.count == 60 && minutes["apns_p50_ms"] == nil)
        #expect((detail["lanes"] as? [[String: Any]])?.map { $0["oldest_ms"] as? Int } == [40_000, nil])
    }

    @Test func `metrics have dwell, ages, outages, drains and both replica numbers`() throws {
        let text = FleetMetrics(try Self.picture(empty: [:]), version: "1").text
        #expect(text.contains("pushfleet_dwell_seconds_bucket{lane=\"now\",le=\"10800\"} 0\n"))
        let age = "pushfleet_queue_oldest_age_seconds{queue=\"a\",kind=\"work\",app=\"\(Self.shop)\",lane=\"now\"} 40\n"
        #expect(text.contains(age))
        #expect(!text.contains("oldest_age_seconds{queue=\"b\""), "nothing is known of it")
        #expect(text.contains("pushfleet_workers_draining 1\n"))
        #expect(text.contains("pushfleet_app_paused{app=\"com.example.quiet\",cause=\"outage\"} 1\n"))
        let since = (Self.time.milliseconds - 7_000) / 1000
        let name = "pushfleet_app_paused_since_timestamp_seconds"
        #expect(text.contains("\(name){app=\"com.example.quiet\",cause=\"outage\"} \(since)\n"))
        // Its app is paused, so that all that waits is nothing that more workers could send.
        #expect(text.contains("pushfleet_desired_replicas 1\n") && text.contains("pushfleet_useful_replicas 10\n"))
    }

    @Test func `metrics have every family once, and no app that nobody has configured`() throws {
        let text = FleetMetrics(Self.picture(queues: try Self.queues()), version: "1").text
        let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }
        #expect(Set(types).count == types.count)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != " " || false } }
        #expect(Set(lines).count == lines.count)
        #expect(text.contains("pushfleet_messages_received_total{app=\"\(Self.shop)\",lane=\"now\"} 100\n"))
        #expect(text.contains("pushfleet_notifications_total{app=\"other\",lane=\"now\",outcome=\"delivered\"} 1\n"))
        #expect(text.contains("pushfleet_apns_latency_seconds_bucket{lane=\"now\",le=\"0.05\"} 90\n"))
        #expect(text.contains("pushfleet_apns_latency_seconds_bucket{lane=\"now\",le=\"+Inf\"} 90\n"))
        #expect(text.contains("pushfleet_apns_latency_seconds_sum{lane=\"now\"} 3.6\n"))
        #expect(text.contains("pushfleet_queue_messages{queue=\"pushfleet.dead\",kind=\"dead\"} 4\n"))
        #expect(!text.contains("onerror"))
        let away = FleetMetrics(Self.picture(status: nil, queues: nil), version: "1").text
        #expect(away.contains("pushfleet_source_up{source=\"redis\"} 0\npushfleet_source_up{source=\"rabbitmq\"} 0\n"))
        #expect(!away.contains("pushfleet_workers"))
    }
}
