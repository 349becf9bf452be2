internal import APNs
internal import Foundation
internal import Push
internal import Testing
internal import Worker

@testable import pushfleet

@Suite struct ConfigurationTests {
    let folder: TestFolder
    let key: String

    init() throws {
        self.folder = try TestFolder()
        self.key = try self.folder.writeKey()
    }

    /// A configuration with nothing wrong; the sections can be replaced.
    func yaml(
        amqp: String = "{ url: 'amqp://u:secret@localhost/v' }",
        redis: String = "{ url: 'redis://localhost' }",
        credential: String = "",
        app: String = "",
        rest: String = ""
    ) -> String {
        """
        amqp: \(amqp)
        redis: \(redis)
        credentials:
          main:
            environment: sandbox
            team_id: TEAM123456
            key_id: KEY1234567
            key_file: \(self.key)
            max_connections: 4
        \(credential)
        apps:
          com.example.shop:
            credential: main
        \(app)
        \(rest)
        """
    }

    func load(
        _ yaml: String,
        environment: [String: String] = [:],
        needs: ConfigurationLoader.Needs = [.servers, .keys]
    ) throws -> LoadedConfiguration {
        let file = try self.folder.write("c.yaml", yaml)
        return ConfigurationLoader(environment: environment, standardPath: "/nonexistent/pushfleet.yaml")
            .load(option: file, needs: needs)
    }

    // MARK: What holds

    @Test("a small file gets all defaults")
    func defaults() throws {
        let loaded = try self.load(self.yaml())
        #expect(loaded.problems == [])
        let settings = loaded.settings
        let standard = FleetSettings(amqp: settings.amqp, redis: settings.redis)
        #expect(settings.amqp == ServerSettings(url: "amqp://u:secret@localhost/v"))
        #expect(settings.budget == standard.budget)
        #expect(settings.worker == standard.worker)
        #expect(settings.amqpHeartbeat == standard.amqpHeartbeat)
        #expect(settings.apps.map(\.bundleID) == ["com.example.shop"])
        #expect(settings.apps.map(\.retry) == [.standard])
        #expect(settings.credentials.map(\.environment) == [.sandbox])
        #expect(loaded.logLevel == "info")
    }

    @Test("the environment goes before the file, the file before the default, and the origin is told")
    func precedence() throws {
        let loaded = try self.load(
            self.yaml(rest: "budget: { lease: 40s, heartbeat: 4s }"),
            environment: [
                "PUSHFLEET_BUDGET_LEASE": "1m", "PUSHFLEET_APPS_COM_EXAMPLE_SHOP_RETRY_AGE_LIMIT": "1h",
                "PUSHFLEET_WORKER_DRAIN_TIMEOUT": "",
            ]
        )
        #expect(loaded.problems == [])
        #expect(loaded.settings.budget.lease == .seconds(60))
        #expect(loaded.settings.budget.heartbeat == .seconds(4))
        #expect(loaded.settings.budget.quantum == .seconds(30))
        #expect(loaded.settings.apps.first?.retry.ageLimit == .seconds(3600))
        let origins = Dictionary(uniqueKeysWithValues: loaded.effective.map { ($0.key, $0) })
        #expect(origins["budget.lease"]?.origin == .environment("PUSHFLEET_BUDGET_LEASE"))
        #expect(origins["budget.heartbeat"]?.origin == .file)
        #expect(origins["budget.quantum"]?.origin == .standard)
        #expect(origins["worker.drain_timeout"]?.origin == .standard)
        #expect(origins["amqp.ca_file"]?.origin == .unset)
        #expect(origins["amqp.url"]?.value == "amqp://u@localhost:5672/v")
    }

    @Test("no secret is shown, in values or in problems")
    func secrets() throws {
        for url in [
            "amqp://u:s3cr3t@h/v?password=s3cr3t", "amqp:s3cr3t", "s3cr3t", "amqp://u:s3cr3t#@h o s t",
            "amqp://u:x/s3cr3t@h", "amqp://u:x?s3cr3t@h", "amqp://u:s3cr3t/@h", "redis://:x/s3cr3t@h",
        ] {
            let loaded = try self.load(self.yaml(amqp: "{ url: '\(url)' }", redis: "{ url: '\(url)' }"))
            let shown = loaded.effective.map(\.value) + loaded.problems.map(\.description)
            #expect(!shown.joined(separator: "\n").contains("s3cr3t"), "\(url)")
        }
    }

    @Test("a URL can come from a file, and the environment can choose the other way")
    func urlFile() throws {
        let secret = try self.folder.write("url", "amqps://u:p@broker.example:5671\n")
        let fromFile = try self.load(self.yaml(amqp: "{ url_file: \(secret) }"))
        #expect(fromFile.problems == [])
        #expect(fromFile.settings.amqp.url == "amqps://u:p@broker.example:5671")
        let variableFirst = try self.load(
            self.yaml(amqp: "{ url_file: \(secret) }"),
            environment: ["PUSHFLEET_AMQP_URL": "amqp://localhost"]
        )
        #expect(variableFirst.problems == [])
        #expect(variableFirst.settings.amqp.url == "amqp://localhost")
        let fileFirst = try self.load(self.yaml(), environment: ["PUSHFLEET_AMQP_URL_FILE": secret])
        #expect(fileFirst.problems == [])
        #expect(fileFirst.settings.amqp.url == "amqps://u:p@broker.example:5671")
    }

    @Test("a verb that needs no server and no key is not bothered by missing ones")
    func needs() throws {
        let text = self.yaml(amqp: "", redis: "").replacing(self.key, with: "/nonexistent.p8")
        #expect(try self.load(text, needs: []).problems == [])
        #expect(try self.load(text, needs: [.servers]).errors.map(\.key) == ["amqp.url", "redis.url"])
        #expect(try self.load(text).errors.count == 3)
    }

    // MARK: Keys and doubts

    @Test("a key file must hold a P-256 key")
    func keyFiles() throws {
        let wrong = try self.folder.write("wrong.p8", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
        for (file, hint) in [(wrong, "is not a P-256 private key"), ("/nonexistent.p8", "no such file")] {
            let loaded = try self.load(self.yaml().replacing(self.key, with: file))
            #expect(loaded.errors.map(\.key) == ["credentials.main.key_file"])
            #expect(loaded.errors.first?.text.contains(hint) == true)
        }
    }

    @Test("a key that everyone may read is a doubt, through a link too")
    func openKey() throws {
        let open = try self.folder.writeKey("open.p8", mode: 0o644)
        let link = "\(self.folder.path)/link.p8"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: open)
        for file in [open, link] {
            let loaded = try self.load(self.yaml().replacing(self.key, with: file))
            #expect(loaded.errors == [])
            #expect(loaded.warnings.map(\.key) == ["credentials.main.key_file"])
        }
    }

    @Test("a CA file must hold a certificate")
    func caFile() throws {
        let loaded = try self.load(self.yaml(credential: "    ca_file: \(self.key)"))
        #expect(loaded.errors.first?.text.contains("holds no certificate") == true)
    }

    @Test(
        "plaintext to another machine is a doubt",
        arguments: [
            ("amqp://broker.example", true), ("amqp://10.0.0.3:5672", true), ("amqps://broker.example", false),
            ("amqp://localhost", false), ("amqp://127.0.0.9", false), ("amqp://[::1]:5672", false),
            ("amqp://a.localhost", false), ("amqp://[2001:db8::1]", true),
        ]
    )
    func plaintext(url: String, isDoubtful: Bool) throws {
        let loaded = try self.load(self.yaml(amqp: "{ url: '\(url)' }"))
        #expect(loaded.errors == [])
        #expect(loaded.warnings.map(\.key) == (isDoubtful ? ["amqp.url"] : []))
    }

    @Test("a credential that no app uses is a doubt")
    func unused() throws {
        let loaded = try self.load(
            self.yaml(
                credential: """
                      spare: { environment: sandbox, team_id: TEAM123456, key_id: KEY7654321, key_file: \(self.key), \
                    max_connections: 1 }
                    """
            )
        )
        #expect(loaded.errors == [])
        #expect(loaded.warnings.map(\.key) == ["credentials.spare"])
    }
}
