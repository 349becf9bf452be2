import Store
import TestServers
import Testing

@testable import Registry

@Suite struct ApplicationTests {
    @Test func `An application is made, merged, read and deleted`() async throws {
        try await withRegistry { _, registry in
            func create(_ attributes: [String: String]) async throws -> ApplicationCreation {
                try await registry.ask { $0.createApplication(.shop, attributes: attributes, fleet: nil, $1) }
            }
            func get() async throws -> PlatformApplication? { try await registry.ask { $0.application(.shop, $1) } }
            #expect(try await get() == nil)
            #expect(try await registry.ask { $0.setApplication(.shop, attributes: ["a": "b"], $1) } == .missing)
            #expect(try await create(["EventEndpointCreated": "t"]) == .created)
            #expect(try await get()?.attributes == ["Enabled": "true", "EventEndpointCreated": "t"])
            #expect(try await get()?.endpoints == 0)
            #expect(try await create(["Enabled": "false"]) == .existing)
            let application = try #require(try await get())
            #expect(!application.isEnabled && application.attributes.count == 2 && application.name == .shop)
            let enabled = ["Enabled": "true"]
            #expect(try await registry.ask { $0.setApplication(.shop, attributes: enabled, $1) } == .changed)
            #expect(try await registry.ask { $0.setApplication(.shop, attributes: enabled, $1) } == .unchanged)
            #expect(try await registry.ask { $0.deleteApplication(.shop, $1) } == .removed)
            #expect(try await registry.ask { $0.deleteApplication(.shop, $1) } == .absent)
            #expect(try await get() == nil)
        }
    }

    @Test func `Its app of the fleet and the credential change in the same step, with the version`() async throws {
        try await withRegistry { redis, registry in
            let session = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(redis.port)))
            defer { session.close() }
            func put(_ settings: String, _ credential: String?) async throws {
                let sealed = credential.map(SealedCredential.init(text:))
                let fleet = FleetApp(id: "sns.apns.shop", settings: settings, credential: sealed)
                _ = try await registry.ask { $0.createApplication(.shop, attributes: [:], fleet: fleet, $1) }
            }
            try await put("{}", "sealed 1")
            let first = try await StoredApps.read(from: session)
            #expect(first.values == ["sns.apns.shop": "{}"])
            #expect(first.credentials == ["sns.apns.shop": "sealed 1"])
            try await put("{}", "sealed 1")
            #expect(try await StoredApps.read(from: session) == first)
            try await put("{}", "sealed 2")
            let second = try await StoredApps.read(from: session)
            #expect(second.credentials == ["sns.apns.shop": "sealed 2"])
            #expect(try #require(second.version) > #require(first.version))
            try await put(#"{"weight":2}"#, nil)
            let third = try await StoredApps.read(from: session)
            #expect(third.values["sns.apns.shop"] == #"{"weight":2}"# && third.credentials == second.credentials)
            #expect(try await registry.ask { $0.application(.shop, $1) }?.fleetApp == "sns.apns.shop")
            _ = try await registry.ask { $0.deleteApplication(.shop, $1) }
            let last = try await StoredApps.read(from: session)
            #expect(last.values.isEmpty && last.credentials.isEmpty && last.removed == ["sns.apns.shop"])
            #expect(try #require(last.version) > #require(third.version))
        }
    }

    @Test func `Applications are listed in pages, each once`() async throws {
        try await withRegistry { _, registry in
            let names = (0..<25).map {
                ApplicationName(platform: $0 % 2 == 0 ? "APNS" : "APNS_SANDBOX", name: "a\($0)")
            }
            for name in names { try await registry.make(name) }
            var found: [ApplicationName] = []
            var after: ApplicationName?
            repeat {
                let page = try await registry.ask { [after] in $0.applications(after: after, limit: 10, $1) }
                #expect(page.items.count <= 10)
                found += page.items.map(\.name)
                after = page.next
            } while after != nil
            #expect(found.count == 25 && Set(found) == Set(names))
        }
    }

    @Test func `An application that is made again after it was deleted is empty, and what it had is swept`()
        async throws
    {
        try await withRegistry { redis, registry in
            try await registry.make(.shop)
            _ = try await registry.ask { $0.createTopic("t", $1) }
            var ids: [ResourceID] = []
            for number in 0..<50 {
                let id = try await registry.added("aabb0\(number + 10)", to: .shop, userData: "user \(number % 5)")
                let name = EndpointName(application: .shop, id: id)
                _ = try await registry.ask { $0.subscribe(.endpoint(name), to: "t", $1) }
                ids.append(id)
            }
            #expect(try await registry.set(ids[0], of: .shop, EndpointChange(isEnabled: false)) == .changed)
            #expect(try await registry.set(ids[1], of: .shop, EndpointChange(token: EndpointToken("ff"))) == .changed)
            _ = try await registry.ask { $0.deleteApplication(.shop, $1) }
            #expect(try await registry.get(ids[0], of: .shop) == nil)
            #expect(try await registry.ask { $0.endpoints(of: .shop, $1) } == nil)
            #expect(try await registry.ask { $0.endpoints(withUserData: "user 1", $1) }.items.isEmpty)
            let subscriptions = try await registry.ask { $0.subscriptions(to: "t", $1) }
            #expect(subscriptions?.items.count == 50)
            let recipients = try await registry.ask { $0.recipients(of: "t", limit: 100, $1) }
            #expect(recipients?.recipients.allSatisfy { $0.subscriber == .dangling } == true)
            try await registry.make(.shop)
            #expect(try await registry.ask { $0.endpoints(of: .shop, $1) }?.items.isEmpty == true)
            let again = try await registry.added("aabb010", to: .shop)
            #expect(again == ids[0])
            try await registry.sweep(limit: 7)
            #expect(try await registry.get(again, of: .shop) != nil)
            #expect(try await registry.ask { $0.subscriptions(to: "t", $1) }?.items.isEmpty == true)
            _ = try await registry.ask { $0.deleteApplication(.shop, $1) }
            _ = try await registry.ask { $0.deleteTopic("t", $1) }
            try await registry.sweep()
            // Nothing is left but what numbers mean.
            let keys = try redis.cli("KEYS", "*").split(separator: "\n").map(String.init)
            #expect(Set(keys) == ["pf:sns:{apps}:serial", "pf:sns:{apps}:numbers"])
        }
    }
}
