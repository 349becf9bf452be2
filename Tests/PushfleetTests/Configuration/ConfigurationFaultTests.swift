internal import Foundation
internal import Push
internal import Testing
internal import Worker

@testable import pushfleet

/// What is wrong with a file, and how it is told.
extension ConfigurationTests {
    /// One line that is added or one section that is replaced, and what is said about it.
    struct Fault: CustomTestStringConvertible, Sendable {
        var amqp = "{ url: 'amqp://localhost' }"
        var credential = ""
        var app = ""
        var rest = ""
        let key: String
        let text: String

        var testDescription: String { "\(self.key): \(self.text)" }
    }

    static let faultTable: [Fault] = [
        Fault(rest: "budgett: {}", key: "budgett", text: "is not a key; did you mean budget?"),
        Fault(rest: "lease: 3s", key: "lease", text: "is not a key; did you mean budget.lease?"),
        Fault(rest: "xyzzy: 1", key: "xyzzy", text: "the sections are amqp, redis, budget"),
        Fault(
            rest: "worker: { drain_time: 1s }",
            key: "worker.drain_time",
            text: "the keys here are loops, drain_timeout,"
        ),
        Fault(
            app: "    retrys: {}",
            key: "apps.com.example.shop.retrys",
            text: "did you mean apps.com.example.shop.retry"
        ),
        Fault(rest: "budget: 20s", key: "budget", text: "must be a section with keys below it: lease, heartbeat"),
        Fault(rest: "budget: { lease: [1s] }", key: "budget.lease", text: "must be one value"),
        Fault(rest: "budget: { lease: 20 }", key: "budget.lease", text: "\"20\" has no unit; write 20s"),
        Fault(rest: "budget: { lease: 2h }", key: "budget.lease", text: "out of range; it must be 1s to 1h"),
        Fault(
            rest: "budget: { lease: 14s }",
            key: "budget.lease",
            text:
                "is 14s, but must be at least six heartbeats of 3s, so that one lost answer costs nothing; make it 18s"
        ),
        Fault(rest: "worker: { loops: 0 }", key: "worker.loops", text: "it must be 1 to 64"),
        Fault(rest: "worker: { loops: 65 }", key: "worker.loops", text: "it must be 1 to 64"),
        Fault(
            rest: "worker: { streams_per_connection: many }",
            key: "worker.streams_per_connection",
            text: "\"many\" is not a whole number"
        ),
        Fault(
            rest: "worker: { prefetch_per_connection: 2001 }",
            key: "worker.prefetch_per_connection",
            text: "it must be 1 to 2000"
        ),
        Fault(rest: "log: { level: inof }", key: "log.level", text: "did you mean info?"),
        Fault(amqp: "{ url: 'http://localhost' }", key: "amqp.url", text: "must begin with amqp:// or amqps://"),
        Fault(amqp: "{ url: 'amqp://' }", key: "amqp.url", text: "at the host: it is missing"),
        Fault(amqp: "{ url: 'amqp://a%zzb' }", key: "amqp.url", text: "percent-encode"),
        Fault(amqp: "", key: "amqp.url", text: "is missing; write amqp://user:password@host"),
        Fault(
            amqp: "{ url: 'amqp://localhost', url_file: /nonexistent }",
            key: "amqp.url_file",
            text: "keep one of them"
        ),
        Fault(
            amqp: "{ url_file: /nonexistent }",
            key: "amqp.url_file",
            text: "/nonexistent cannot be read: there is no"
        ),
        Fault(
            amqp: "{ url: 'amqp://localhost', ca_file: /nonexistent }",
            key: "amqp.ca_file",
            text: "there is no such file"
        ),
        Fault(amqp: "{ url: 'amqp://localhost', ca_file: / }", key: "amqp.ca_file", text: "it is a directory"),
        Fault(amqp: "{ url: 'amqp://localhost', heartbeat: 1s }", key: "amqp.heartbeat", text: "5s to 1m"),
        Fault(amqp: "{ url: 'amqp://localhost', heartbeat: 5500ms }", key: "amqp.heartbeat", text: "whole seconds"),
        Fault(credential: "  other:", key: "credentials.other.environment", text: "is missing; which of Apple's"),
        Fault(credential: "  other:", key: "credentials.other", text: "a key or certificate is missing; set team_id"),
        Fault(
            credential: "    port: 8443",
            key: "credentials.main.port",
            text: "Apple listens on 443 and 2197 only; set host"
        ),
        Fault(credential: "    port: 0", key: "credentials.main.port", text: "1 to 65535"),
        Fault(
            credential: "    broadcast_port: 8443",
            key: "credentials.main.broadcast_port",
            text: "Apple listens on 443 and 2197 only; set broadcast_host"
        ),
        Fault(
            credential: "    broadcast_host: localhost\n    broadcast_connections: 0",
            key: "credentials.main.broadcast_connections",
            text: "1 to 1000"
        ),
        Fault(app: "  -shop: { credential: main }", key: "apps.-shop", text: "is not a name; use 1 to 128"),
        Fault(app: "  a/b: { credential: main }", key: "apps.a/b", text: "is not a name"),
        Fault(app: "  other: {}", key: "apps.other.credential", text: "is missing"),
        Fault(
            app: "  other: { credential: mian }",
            key: "apps.other.credential",
            text: "\"mian\" is not in credentials; those are main; did you mean main?"
        ),
        Fault(
            app: "    retry: { min_backoff: 1h }",
            key: "apps.com.example.shop.retry.min_backoff",
            text: "must not be greater than max_backoff"
        ),
        Fault(
            app: "    retry: { min_backoff: 0s }",
            key: "apps.com.example.shop.retry.min_backoff",
            text: "out of range"
        ),
        Fault(
            app: "    retry: { min_backoff: 1s, max_doublings: 0 }",
            key: "apps.com.example.shop.retry.max_doublings",
            text: "each a queue"
        ),
        Fault(
            app: "    breaker: { threshold: 101 }",
            key: "apps.com.example.shop.breaker.threshold",
            text: "0 to 100"
        ),
        Fault(
            app: "    breaker: { window: 10 }",
            key: "apps.com.example.shop.breaker.window",
            text: "20 to 10000"
        ),
        Fault(app: "    rate: 0", key: "apps.com.example.shop.rate", text: "1 to 1000000"),
        Fault(app: "    rate: -5", key: "apps.com.example.shop.rate", text: "1 to 1000000"),
        Fault(app: "    rate: 0.5", key: "apps.com.example.shop.rate", text: "is not a whole number"),
        Fault(app: "    rate: 1000001", key: "apps.com.example.shop.rate", text: "1 to 1000000"),
        Fault(
            app: "    rate: 10\n    bucket_size: 0",
            key: "apps.com.example.shop.bucket_size",
            text: "1 to 1000000"
        ),
        Fault(
            app: "    rate: 10\n    bucket_size: 1000001",
            key: "apps.com.example.shop.bucket_size",
            text: "1 to 1000000"
        ),
        Fault(
            app: "    retry: { retry_limit: -1 }",
            key: "apps.com.example.shop.retry.retry_limit",
            text: "out of range"
        ),
        Fault(
            app: "    retry: { age_limit: 8d }",
            key: "apps.com.example.shop.retry.age_limit",
            text: "1ms to 7d"
        ),
    ]

    @Test("every fault is told with its key, the rule and the fix", arguments: Self.faultTable)
    func faults(fault: Fault) throws {
        let loaded = try self.load(
            self.yaml(amqp: fault.amqp, credential: fault.credential, app: fault.app, rest: fault.rest)
        )
        let found = loaded.errors.first { $0.key == fault.key }
        #expect(found?.text.contains(fault.text) == true, "\(loaded.problems)")
        #expect(found?.place.hasSuffix("/c.yaml") == true)
        // Nothing else is accused, but what is missing beside what is missing.
        #expect(loaded.errors.allSatisfy { $0.key == fault.key || $0.text.contains("is missing") }, "\(loaded.errors)")
    }

    @Test(
        "ids of Apple have ten characters",
        arguments: ["abc", "key1234567", "KEY12345678", "KEY-123456", "KEY123456ß", "'KEY 123456'"]
    )
    func appleIDs(id: String) throws {
        let loaded = try self.load(self.yaml().replacing("key_id: KEY1234567", with: "key_id: \(id)"))
        #expect(loaded.errors.map(\.key) == ["credentials.main.key_id"])
    }

    @Test("max_connections is 1 to 1000", arguments: ["0", "1001", "-1", "four"])
    func maxConnections(number: String) throws {
        let loaded = try self.load(self.yaml().replacing("max_connections: 4", with: "max_connections: \(number)"))
        #expect(loaded.errors.map(\.key) == ["credentials.main.max_connections"])
    }

    @Test(
        "a file without apps is doubtful: the fleet may have its apps in Redis",
        arguments: ["", "apps:", "apps: {}"]
    )
    func noApps(apps: String) throws {
        let loaded = try self.load("amqp: { url: 'amqp://localhost' }\nredis: { url: 'redis://localhost' }\n\(apps)")
        #expect(loaded.errors == [])
        #expect(loaded.warnings.map(\.key) == ["apps"])
        #expect(loaded.warnings.first?.text.contains("pushfleet app") == true)
    }

    @Test("all errors come at once")
    func allAtOnce() throws {
        let loaded = try self.load(
            self.yaml(
                amqp: "{ url: 'http://x' }",
                credential: "    port: 1",
                app: "    bundel_id: x",
                rest: "budget: { lease: 3s }"
            )
        )
        #expect(
            Set(loaded.errors.compactMap(\.key)) == [
                "amqp.url", "credentials.main.port", "apps.com.example.shop.bundel_id", "budget.lease",
            ]
        )
    }

    @Test(
        "what is no YAML is told once, with the line",
        arguments: [
            ("a: [", "is not YAML"), ("a: 1\na: 2", "has a twice"), ("- 1", "is not a mapping"),
            ("just text", "is not a mapping"),
            ("a: b: c", "is not YAML"), ("\tamqp: 1", "is not YAML"),
        ]
    )
    func notYAML(text: String, hint: String) throws {
        let loaded = try self.load(text)
        #expect(loaded.errors.count == 1)
        #expect(loaded.errors.first?.text.contains(hint) == true, "\(loaded.errors)")
        #expect(loaded.errors.first?.line != nil)
    }

    @Test("the line of a fault is the line of its key")
    func lines() throws {
        let loaded = try self.load(self.yaml(rest: "log:\n  level: loud"))
        let lines = try String(contentsOfFile: "\(self.folder.path)/c.yaml", encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let line = try #require(loaded.errors.first?.line)
        #expect(lines[line - 1] == "  level: loud")
        #expect(loaded.errors.first?.description.hasSuffix("(line \(line))") == true)
    }

    @Test("a file that is not there, or cannot be read, is one error")
    func unreadable() throws {
        let loader = ConfigurationLoader(environment: [:], standardPath: "/nonexistent/pushfleet.yaml")
        #expect(
            loader.load(option: "/nonexistent", needs: []).errors.map(\.text).first?.contains("no such file") == true
        )
        #expect(
            loader.load(option: self.folder.path, needs: []).errors.map(\.text).first?.contains("directory") == true
        )
        #expect(loader.load(option: nil, needs: []).errors.map(\.text).first?.contains("--config") == true)
        #expect(loader.path(option: nil) == nil)
        let byVariable = ConfigurationLoader(environment: ["PUSHFLEET_CONFIG": "/a"], standardPath: self.key)
        #expect(byVariable.path(option: nil) == "/a")
        #expect(byVariable.path(option: "/b") == "/b")
        #expect(ConfigurationLoader(environment: [:], standardPath: self.key).path(option: nil) == self.key)
    }

    @Test("a bucket that does nothing, or is too small for its rate, is told")
    func buckets() throws {
        let alone = try self.load(self.yaml(app: "    bucket_size: 5"))
        #expect(alone.errors.isEmpty)
        #expect(alone.warnings.map(\.key) == ["apps.com.example.shop.bucket_size"])
        #expect(alone.warnings.first?.text == "does nothing without rate")
        let small = try self.load(self.yaml(app: "    rate: 200\n    bucket_size: 2"))
        #expect(small.errors.isEmpty)
        #expect(small.warnings.map(\.key) == ["apps.com.example.shop.bucket_size"])
        #expect(small.warnings.first?.text.contains("only 10 % of the rate can be used") == true)
        #expect(small.warnings.first?.text.contains("make it 11 or more") == true)
        let good = try self.load(self.yaml(app: "    rate: 200\n    bucket_size: 50"))
        #expect(good.problems == [])
        let limit = try #require(good.settings.apps.first?.rate)
        #expect(limit.rate == 200 && limit.bucketSize == 50)
    }

    @Test("a variable's fault names the variable")
    func variableFault() throws {
        let loaded = try self.load(self.yaml(), environment: ["PUSHFLEET_BUDGET_LEASE": "20"])
        #expect(
            loaded.errors.map(\.description) == [
                "PUSHFLEET_BUDGET_LEASE: budget.lease: \"20\" has no unit; write 20s for seconds, or use ms, m, h or d"
            ]
        )
    }

    @Test("variables that do nothing, or could mean two keys, are told")
    func variables() throws {
        let loaded = try self.load(
            self.yaml(app: "  com.example-shop: { credential: main }"),
            environment: [
                "PUSHFLEET_BUDGET_LEESE": "20s", "PUSHFLEET_APPS_COM_EXAMPLE_SHOP_BUNDLE_ID": "x",
                "PUSHFLEET_CONFIG": "/x", "PUSHFLEET_SERVICE_HOST": "10.0.0.1", "PUSHFLEET_PORT_80_TCP": "tcp://x",
            ]
        )
        #expect(loaded.warnings.map(\.place) == ["PUSHFLEET_BUDGET_LEESE"])
        #expect(loaded.warnings.first?.text.contains("did you mean PUSHFLEET_BUDGET_LEASE?") == true)
        #expect(loaded.errors.map(\.place) == ["PUSHFLEET_APPS_COM_EXAMPLE_SHOP_BUNDLE_ID"])
    }
}
