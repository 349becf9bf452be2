internal import Desk
internal import Store
internal import Testing
internal import Worker

@testable import pushfleet

/// What verbs know of the fleet's apps.
extension ConfigurationTests {
    private func fleet(_ values: [String: String]) throws -> FleetConfiguration {
        let spare = """
              spare: { environment: sandbox, team_id: TEAM123456, key_id: KEY7654321, key_file: \(self.key), \
            max_connections: 1 }
            """
        var fleet = FleetConfiguration(try self.load(self.yaml(credential: spare)))
        fleet.add(StoredApps(version: 1, values: values))
        return fleet
    }

    @Test("verbs see the sound apps of Redis beside those of the file, and what is wrong with the others")
    func storedApps() throws {
        let fleet = try self.fleet([
            "a": #"{"credential":"main","rate":7}"#, "bad": #"{"credential":"main","rate":0}"#,
            "com.example.shop": #"{"credential":"spare"}"#,
        ])
        #expect(fleet.settings.apps.map(\.id) == ["a", "com.example.shop"])
        #expect(fleet.settings.apps.last?.credential == "main")
        #expect(fleet.problems.map(\.key) == ["apps.bad.rate", "apps.com.example.shop"])
        let reports = AppReport.all(fleet)
        #expect(
            reports.map { "\($0.app) \($0.source) \($0.state)" } == [
                "a redis ok", "bad redis refused", "com.example.shop file ok", "com.example.shop redis overruled",
            ]
        )
        #expect(reports[0].value("rate") == "7" && reports[0].value("fit") == "reject")
        #expect(reports[1].problems.first?.hasPrefix("redis: apps.bad.rate: ") == true)
        let lines = AppReport.lines(reports)
        #expect(lines[0].hasPrefix("app               source  credential  rate"))
        #expect(lines[1].hasPrefix("a                 redis   main           7"))
        let findings = ConfigurationCheckup.findings(stored: fleet)
        #expect(findings.map(\.state) == [.fail, .warn, .ok])
    }

    @Test("a credential that an app in Redis uses is no doubt, one of a refused or overruled app is")
    func storedCredentials() throws {
        #expect(try self.fleet([:]).loaded.warnings.map(\.key) == ["credentials.spare"])
        #expect(try self.fleet(["a": #"{"credential":"spare"}"#]).loaded.warnings == [])
        let useless = ["com.example.shop": #"{"credential":"spare"}"#, "b": #"{"credential":"spare","rate":0}"#]
        #expect(try self.fleet(useless).loaded.warnings.map(\.key) == ["credentials.spare"])
    }
}
