internal import Desk
internal import Store
internal import Testing
internal import Wire
internal import Worker

@testable import pushfleet

@Suite struct BroadcastHostTests {
    private let base: ConfigurationTests

    init() throws {
        self.base = try ConfigurationTests()
    }

    private func load(_ lines: String...) throws -> LoadedConfiguration {
        try self.base.load(self.base.yaml(credential: lines.map { "    \($0)" }.joined(separator: "\n")))
    }

    @Test("without a host of their own, broadcasts have no credential of their own")
    func none() throws {
        for lines in ["", "channel_host: localhost", "host: localhost"] {
            let loaded = try self.load(lines)
            #expect(loaded.problems == [])
            #expect(loaded.settings.credentials.map(\.name) == ["main"] && loaded.credentials.count == 1)
            #expect(loaded.settings.budgets.map(\.pool) == ["sandbox.TEAM123456.KEY1234567"])
        }
    }

    @Test("a host of their own is one more credential with the same proof, and one more budget")
    func own() throws {
        let loaded = try self.load(
            "host: a.example",
            "port: 2197",
            "proxy: http://proxy.example:3128",
            "broadcast_host: b.example",
            "broadcast_connections: 3"
        )
        #expect(loaded.problems == [])
        #expect(loaded.settings.credentials.map(\.name) == ["main", "main.broadcast"])
        let (main, own) = (loaded.settings.credentials[0], loaded.settings.credentials[1])
        #expect(own.host == "b.example" && own.port == 2197 && own.maxConnections == 3)
        #expect(own.kind == main.kind && own.environment == main.environment && own.proxy == main.proxy)
        #expect(own.broadcastsOf == "main" && own.configuredName == "main" && own.forBroadcasts == nil)
        #expect(main.host == "a.example" && main.maxConnections == 4 && main.configuredName == "main")
        #expect(
            loaded.settings.budgets.map { "\($0.pool) \($0.connections)" } == [
                "sandbox.TEAM123456.KEY1234567 4", "sandbox.TEAM123456.KEY1234567.broadcast 3",
            ]
        )
        #expect(loaded.credentials.map(\.settings) == loaded.settings.credentials)
        // The operator is told of what the operator wrote.
        let findings = ConfigurationCheckup.findings(loaded)
        #expect(findings.map(\.subject) == ["config", "key main"])
        #expect(findings.first?.text.contains("1 app, 1 credential") == true)
        var direct = own
        direct.proxy = nil
        #expect(
            Checkup.fix(.transport(.resolve(host: "b.example", detail: "")), direct).contains(
                "credentials.main.broadcast_host"
            )
        )
    }

    @Test("a port alone is enough, and the host is that of other pushes")
    func port() throws {
        let own = try #require(try self.load("host: localhost", "broadcast_port: 8443").settings.credentials.last)
        #expect(own.name == "main.broadcast" && own.host == "localhost" && own.port == 8443)
        #expect(own.maxConnections == 1)
    }

    @Test("connections to no host of their own are a doubt")
    func connectionsAlone() throws {
        let loaded = try self.load("broadcast_connections: 2")
        #expect(loaded.errors == [] && loaded.settings.credentials.count == 1)
        #expect(loaded.warnings.map(\.key) == ["credentials.main.broadcast_connections"])
    }

    @Test("a credential whose name the broadcasts' would have is told")
    func name() throws {
        let loaded = try self.load(
            "broadcast_host: localhost\n  main.broadcast:",
            "environment: sandbox",
            "team_id: TEAM123456",
            "key_id: KEY7654321",
            "key_file: \(self.base.key)",
            "max_connections: 1"
        )
        #expect(loaded.errors.map(\.key) == ["credentials.main.broadcast_host"])
        #expect(loaded.errors.first?.text.contains("credential called main.broadcast") == true)
    }
}
