import Push
import TestServers
import Testing

@testable import Registry

@Suite struct EndpointTests {
    private static let token = EndpointToken(String(repeating: "ab", count: 32))

    /// What is there, what is asked for, and what comes of it: every verified case of Amazon's.
    @Test(
        arguments: [
            (nil, nil, nil, nil, true), (nil, nil, nil, true, true), (nil, nil, nil, false, false),
            (nil, false, nil, false, true), ("x", false, "x", false, true), ("x", false, "x", true, false),
            (nil, nil, "x", nil, false), ("x", nil, nil, nil, false), (nil, false, nil, nil, true),
            ("x", nil, "x", nil, true), ("x", nil, "y", nil, false), ("", nil, nil, nil, false),
        ] as [(String?, Bool?, String?, Bool?, Bool)]
    )
    func `An endpoint that is there is found or conflicts, and nothing is written`(
        user: String?,
        enabled: Bool?,
        wantedUser: String?,
        wantedEnabled: Bool?,
        isSame: Bool
    ) async throws {
        try await withRegistry { redis, registry in
            try await registry.make(.shop)
            let new = NewEndpoint(.shop, token: Self.token, userData: user, isEnabled: enabled)
            guard case .created(let id) = try await registry.create(new) else {
                throw NeverHappened(description: "new")
            }
            let before = try await registry.get(id, of: .shop)
            #expect(before?.isEnabled == enabled ?? true)
            #expect(before?.userData == user)
            let wanted = NewEndpoint(
                .shop,
                token: EndpointToken(Self.token.text.uppercased()),
                userData: wantedUser,
                isEnabled: wantedEnabled
            )
            #expect(try await registry.create(wanted) == (isSame ? .existing(id) : .conflict(id)))
            #expect(try await registry.get(id, of: .shop) == before)
        }
    }

    @Test func `Without an application there is nothing to make`() async throws {
        try await withRegistry { redis, registry in
            let outcome = try await registry.create(NewEndpoint(.shop, token: Self.token))
            #expect(outcome == .noApplication)
            #expect(try redis.cli("DBSIZE") == "0")
        }
    }

    @Test func `Three endpoints can begin with one token, the fourth cannot, and a free slot is used again`()
        async throws
    {
        try await withRegistry { _, registry in
            try await registry.make(.shop)
            var ids: [ResourceID] = []
            for number in 0..<3 {
                let id = try await registry.added(Self.token.text, to: .shop)
                ids.append(id)
                let other = EndpointChange(token: EndpointToken("ff0\(number)"))
                #expect(try await registry.set(id, of: .shop, other) == .changed)
            }
            #expect(ids == ApplicationName.shop.slots(for: Self.token))
            #expect(try await registry.create(NewEndpoint(.shop, token: Self.token)) == .slotsTaken)
            #expect(try await registry.delete(ids[1], of: .shop) == .removed)
            #expect(try await registry.create(NewEndpoint(.shop, token: Self.token)) == .created(ids[1]))
            // The token came back to one that was made with it.
            #expect(try await registry.delete(ids[1], of: .shop) == .removed)
            #expect(try await registry.set(ids[2], of: .shop, EndpointChange(token: Self.token)) == .changed)
            #expect(try await registry.create(NewEndpoint(.shop, token: Self.token)) == .existing(ids[2]))
        }
    }

    @Test func `Another token begins another generation, and is found at once`() async throws {
        try await withRegistry { _, registry in
            try await registry.make(.shop)
            let id = try await registry.added(Self.token.text, to: .shop, userData: "u")
            let before = try #require(try await registry.get(id, of: .shop))
            let token = EndpointToken("cd" + Self.token.text)
            let change = EndpointChange(token: token, isEnabled: false, userData: "v")
            #expect(try await registry.set(id, of: .shop, change) == .changed)
            let after = try #require(try await registry.get(id, of: .shop))
            #expect(after.token == token && !after.isEnabled && after.userData == "v")
            #expect(after.generation == before.generation + 1 && after.registeredAt >= before.registeredAt)
            #expect(try await registry.set(id, of: .shop, EndpointChange(isEnabled: false)) == .unchanged)
            #expect(try await registry.get(id, of: .shop) == after)
            func find(_ token: EndpointToken) async throws -> ResourceID? {
                try await registry.ask { $0.endpoint(with: token, of: .shop, $1) }?.name.id
            }
            #expect(try await find(token) == id)
            #expect(try await find(Self.token) == nil)
            #expect(try await registry.ask { $0.endpoints(withUserData: "v", $1) }.items == [after])
            #expect(try await registry.ask { $0.endpoints(withUserData: "u", $1) }.items.isEmpty)
            let missing = EndpointName(application: .shop, id: ResourceID(naming: "none"))
            #expect(try await registry.ask { $0.setEndpoint(missing, change, $1) } == .missing)
            #expect(try await registry.delete(id, of: .shop) == .removed)
            #expect(try await registry.delete(id, of: .shop) == .absent)
            #expect(try await find(token) == nil)
        }
    }

    @Test func `Two endpoints may end up with one token: the last writer is found, and both are marked`() async throws {
        try await withRegistry { _, registry in
            try await registry.make(.shop)
            let first = try await registry.added("aa01", to: .shop)
            let second = try await registry.added("aa02", to: .shop)
            #expect(try await registry.get(first, of: .shop)?.mayShareToken == false)
            #expect(try await registry.set(second, of: .shop, EndpointChange(token: EndpointToken("aa01"))) == .changed)
            for id in [first, second] { #expect(try await registry.get(id, of: .shop)?.mayShareToken == true) }
            let found = try await registry.ask { $0.endpoint(with: EndpointToken("aa01"), of: .shop, $1) }
            #expect(found?.name.id == second)
            #expect(try await registry.delete(second, of: .shop) == .removed)
            #expect(try await registry.create(NewEndpoint(.shop, token: EndpointToken("aa01"))) == .existing(first))
        }
    }

    @Test func `What a publish needs comes in one answer`() async throws {
        try await withRegistry { _, registry in
            let fleet = FleetApp(id: "sns.shop", settings: "{}", credential: nil)
            let off = ["Enabled": "false"]
            _ = try await registry.ask { $0.createApplication(.shop, attributes: [:], fleet: fleet, $1) }
            let id = try await registry.added("aa01", to: .shop, userData: "u")
            let name = EndpointName(application: .shop, id: id)
            let target = try await registry.ask { $0.target(name, $1) }
            #expect(target?.isApplicationEnabled == true && target?.fleetApp == "sns.shop")
            #expect(target?.endpoint == (try await registry.get(id, of: .shop)))
            _ = try await registry.ask { $0.setApplication(.shop, attributes: off, $1) }
            #expect(try await registry.ask { $0.target(name, $1) }?.isApplicationEnabled == false)
            #expect(try await registry.delete(id, of: .shop) == .removed)
            #expect(try await registry.ask { $0.target(name, $1) } == nil)
        }
    }

    @Test func `Tokens of other platforms and user data of any text come back as they were`() async throws {
        try await withRegistry { _, registry in
            try await registry.make(.other)
            let data = "a\u{0}\r\n\u{1f600}é " + String(repeating: "x", count: 2000)
            for text in ["fcm:Token-1_Q", "abc", String(repeating: "f0", count: 200), "é"] {
                let token = EndpointToken(text, isApple: false)
                let new = NewEndpoint(.other, token: token, userData: data)
                guard case .created(let id) = try await registry.create(new) else {
                    throw NeverHappened(description: "new")
                }
                let found = try await registry.get(id, of: .other)
                #expect(found?.token == token && found?.userData == data)
            }
            #expect(try await registry.ask { $0.endpoints(withUserData: data, $1) }.items.count == 4)
        }
    }
}
