internal import Desk
internal import Push
internal import Testing
internal import Wire
internal import Worker

@testable import pushfleet

@Suite struct DoctorTests {
    @Test("lines show state, subject and fix, and count")
    func lines() {
        let loaded = LoadedConfiguration(
            file: "/c.yaml",
            settings: FleetSettings(amqp: ServerSettings(url: ""), redis: ServerSettings(url: "")),
            logLevel: "info",
            effective: [EffectiveValue(key: "log.level", value: "info", origin: .standard)],
            problems: []
        )
        var report = DoctorReport(loaded)
        report.add([
            Finding("config", .ok, "fine"), Finding("key main", .warn, "open", fix: "close it"),
            Finding("redis", .fail, "away", fix: "start it"),
        ])
        #expect(
            report.lines(palette: Palette(isColourful: false)) == [
                "key        value  from", "log.level  info   default", "",
                "ok    config    fine", "warn  key main  open", "                -> close it", "FAIL  redis     away",
                "                -> start it", "", "1 ok, 1 to look at, 1 failed",
            ]
        )
        #expect(report.failed == 1)
        #expect(report.lines(palette: Palette(isColourful: true)).contains("\u{1B}[31mFAIL\u{1B}[0m  redis     away"))
    }

    @Test("problems of the configuration become findings, and a refused key is not called good")
    func configuration() throws {
        let folder = try TestFolder()
        let file = try folder.write(
            "c.yaml",
            """
            amqp: { url: 'amqp://localhost' }
            redis: { url: 'redis://localhost' }
            credentials:
              main:
                environment: sandbox
                team_id: TEAM123456
                key_id: KEY1234567
                key_file: /nonexistent
                max_connections: 1
            apps: { shop: { credential: main } }
            """
        )
        let findings = ConfigurationCheckup.findings(
            ConfigurationLoader(environment: [:]).load(option: file, needs: [.servers, .keys])
        )
        #expect(findings.map(\.state) == [.fail])
        #expect(findings.first?.text.contains("credentials.main.key_file: /nonexistent cannot be read") == true)
    }

    @Test(
        "a clock before this program or far ahead is wrong",
        arguments: [(0, false), (1_704_067_199, false), (1_764_000_000, true), (4_102_444_800, false)]
    )
    func clock(seconds: Int64, isPlausible: Bool) {
        #expect((Checkup.clock(UnixTime(seconds: seconds)).state == .ok) == isPlausible)
    }

    @Test("the probe tells refusal from silence")
    func probe() async throws {
        let bench = try Bench(name: "probe")
        defer { bench.stop() }
        let refused = await ConnectionProbe.shakeHands(
            with: Endpoint(host: "127.0.0.1", port: 1),
            caFile: nil,
            alpn: "h2",
            timeout: .seconds(5),
            bench: bench
        )
        guard case .failure(.transport(.connect)) = refused else {
            Issue.record("\(refused)")
            return
        }
        let badFile = await ConnectionProbe.shakeHands(
            with: Endpoint(host: "127.0.0.1", port: 1),
            caFile: "/nonexistent",
            alpn: "h2",
            timeout: .seconds(5),
            bench: bench
        )
        guard case .failure(.context) = badFile else {
            Issue.record("\(badFile)")
            return
        }
    }

    @Test("every key is listed with its meaning")
    func keys() {
        #expect(KeyReport.all.count == SettingsTable.keys.count)
        let lines = KeyReport.lines()
        #expect(lines.contains("budget.lease: duration 1s to 1h, default 20s"))
        #expect(lines.contains("credentials.*.team_id: 10 characters A-Z 0-9"))
        #expect(lines.allSatisfy { $0.count <= 120 })
    }
}
