internal import Dashboard
internal import Foundation
internal import Gateway
internal import Push
internal import Store
internal import Testing
internal import Worker

@testable import pushfleet

@Suite struct SettingsTableTests {
    private static let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("deploy/pushfleet.example.yaml")

    @Test("every default can be read, and lies in its range")
    func defaults() throws {
        for key in SettingsTable.keys {
            if let standard = key.standard { _ = try key.parse(standard) }
        }
    }

    @Test("the table's defaults are the settings' defaults")
    func sameDefaults() throws {
        let settings = FleetSettings(amqp: ServerSettings(url: ""), redis: ServerSettings(url: ""))
        let retry = RetrySchedule.standard
        let gateway = GatewaySettings()
        let dashboard = DashboardSettings()
        let durations: [String: Duration] = [
            "amqp.heartbeat": settings.amqpHeartbeat, "budget.lease": settings.budget.lease,
            "budget.heartbeat": settings.budget.heartbeat, "budget.quantum": settings.budget.quantum,
            "worker.drain_timeout": settings.worker.drainTimeout,
            "worker.request_timeout": settings.worker.requestTimeout,
            "worker.counter_interval": settings.worker.counterInterval,
            "worker.ping_interval": settings.worker.pingInterval,
            "worker.ping_timeout": settings.worker.pingTimeout,
            "worker.max_connection_age": settings.worker.maxConnectionAge,
            "trail.keep": settings.trail.keep,
            "apps.*.retry.min_backoff": retry.minBackoff, "apps.*.retry.max_backoff": retry.maxBackoff,
            "apps.*.retry.age_limit": retry.ageLimit, "gateway.skew": gateway.skew,
            "gateway.request_timeout": gateway.requestTimeout, "gateway.drain_timeout": gateway.drainTimeout,
            "gateway.webhooks.timeout": gateway.webhooks.timeout,
            "dashboard.request_timeout": dashboard.requestTimeout, "dashboard.drain_timeout": dashboard.drainTimeout,
        ]
        let numbers: [String: Int] = [
            "budget.connect_rate": settings.budget.connectRate,
            "trail.max_memory": settings.trail.maxMemory,
            "worker.loops": settings.worker.loops,
            "worker.streams_per_connection": settings.worker.streamsPerConnection,
            "worker.streams_per_token": settings.worker.streamsPerToken,
            "apps.*.weight": AppSettings(id: "a", bundleID: "a", credential: "c", retry: retry).weight,
            "apps.*.breaker.window": BreakerSettings().window,
            "apps.*.breaker.threshold": BreakerSettings().threshold,
            "worker.prefetch_per_connection": settings.worker.prefetchPerConnection,
            "apps.*.retry.max_doublings": retry.maxDoublings, "credentials.*.port": 443,
            "credentials.*.broadcast_connections": BroadcastHost(host: nil).connections,
            "gateway.port": Int(gateway.port), "gateway.max_connections": gateway.connectionLimit,
            "gateway.apns_connections": gateway.apns.maxConnections,
            "gateway.webhooks.requests_per_host": gateway.webhooks.requestsPerHost,
            "dashboard.port": Int(dashboard.port),
        ]
        for key in SettingsTable.keys {
            let value = key.standard.flatMap { try? key.parse($0) }
            switch key.kind {
            case .duration: #expect(value == durations[key.pattern].map { .duration($0) }, "\(key.pattern)")
            case .integer, .size: #expect(value == numbers[key.pattern].map { .number($0) }, "\(key.pattern)")
            default: continue
            }
        }
        #expect(retry.retryLimit == nil)
    }

    @Test("the example file can be used once the key is there, and mentions every key, in the table's order")
    func example() throws {
        let text = try String(contentsOf: Self.example, encoding: .utf8)
        let folder = try TestFolder()
        let key = try folder.writeKey()
        let file = try folder.write("c.yaml", text.replacing("/run/secrets/AuthKey_KEY1234567.p8", with: key))
        let loaded = ConfigurationLoader(environment: [:]).load(option: file, needs: [.servers, .keys])
        #expect(loaded.problems == [])
        // The same file with every comment that holds a key made a line.
        let key1 = #/^( *)# ([a-z_0-9]+: [^ ]+)$/#
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.wholeMatch(of: key1).map { "\($0.output.1)\($0.output.2)" } ?? String(line)
        }
        let parsed = ConfigurationFile(text: lines.joined(separator: "\n"), name: "example")
        #expect(parsed.problems == [])
        let patterns = parsed.entries.compactMap { SettingsTable.key(at: $0.path)?.pattern }
        #expect(patterns == SettingsTable.keys.map(\.pattern))
    }

    @Test("defaults shown in the example file are the table's")
    func exampleDefaults() throws {
        let parsed = ConfigurationFile(text: try String(contentsOf: Self.example, encoding: .utf8), name: "example")
        for entry in parsed.entries {
            let key = try #require(SettingsTable.key(at: entry.path))
            guard let standard = key.standard else { continue }
            #expect(entry.value == standard, "\(key.pattern)")
        }
    }
}
