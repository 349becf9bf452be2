internal import Desk
internal import Push
internal import Testing

@testable import Store
@testable import pushfleet

@Suite struct WorkersReportTests {
    static func beat(
        _ id: String,
        host: String = "web",
        pid: Int = 7,
        held: Int = 1,
        at: Int64 = 999_000
    ) -> WorkerBeat {
        var beat = WorkerBeat(
            id: InstanceID(),
            version: "1.0",
            host: host,
            pid: pid,
            startedAt: UnixTime(milliseconds: 900_000)
        )
        beat.id = id
        beat.lastBeat = UnixTime(milliseconds: at)
        beat.connectionsHeld = ["p": held]
        beat.inFlight = ["shop.now": 3, "shop.bulk": 4]
        return beat
    }

    static func status(_ workers: [WorkerBeat]) -> FleetStatus {
        FleetStatus(time: UnixTime(milliseconds: 1_000_000), lanes: [], workers: workers, pools: [])
    }

    @Test func `A worker is named by its id, the beginning of it, or its process`() throws {
        let workers = [
            Self.beat("aaaa1111"), Self.beat("aaaa2222"), Self.beat("bbbb3333", host: "db", pid: 9),
        ]
        #expect(try DrainVerb.choose("aaaa2222", among: workers).map(\.id) == ["aaaa2222"])
        #expect(try DrainVerb.choose("bbbb", among: workers).map(\.id) == ["bbbb3333"])
        #expect(try DrainVerb.choose("web:7", among: workers).map(\.id) == ["aaaa1111", "aaaa2222"])
        #expect(try DrainVerb.choose(nil, among: workers).count == 3)
        #expect(try DrainVerb.choose(nil, among: []).isEmpty)
    }

    @Test func `Who names none, or several, is told so`() {
        let workers = [Self.beat("aaaa1111"), Self.beat("aaaa2222")]
        for (text, says) in [
            ("cccc", "no worker is"), ("web:8", "no worker is"), ("aaaa", "aaaa1111 or aaaa2222"), ("a", "too short"),
            ("", "too short"), ("\u{1B}[2Jxxxx", "u{1b}"),
        ] {
            let failure = #expect(throws: VerbFailure.self) { try DrainVerb.choose(text, among: workers) }
            #expect(failure?.message.contains(says) == true, "\(text)")
        }
    }

    @Test func `State, loops and ages come from the heartbeat`() {
        let report = WorkersReport(
            Self.status([
                Self.beat("one"), Self.beat("two", held: 0), Self.beat("three", host: "db", at: 980_000),
            ])
        )
        #expect(report.workers.map(\.state) == ["works", "waits", "silent"])
        #expect(report.workers.map(\.loops) == [2, 2, 1])
        #expect(report.workers.map(\.inFlight) == [7, 7, 7])
        #expect(report.workers[2].beatAgeMs == 20_000 && report.workers[0].upMs == 100_000)
    }

    @Test func `One that drains says so, unless nothing was heard of it for long`() {
        var (leaving, silent) = (Self.beat("one", held: 0), Self.beat("two", at: 980_000))
        leaving.isDraining = true
        silent.isDraining = true
        #expect(WorkersReport(Self.status([leaving, silent])).workers.map(\.state) == ["drains", "silent"])
    }

    @Test func `Hostile names are shown and do nothing`() {
        var beat = Self.beat("id\u{1B}]0;x\u{7}", host: "evil\u{1B}[2J\n")
        beat.paused = ["a\u{1B}[31m": "hand"]
        let lines = WorkersReport(Self.status([beat])).lines()
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7f } })
        #expect(WorkersReport(Self.status([])).lines() == ["No worker is running."])
    }
}
