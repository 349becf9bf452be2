import Push
import TestRandom
import TestServers
import Testing

@testable import Registry

@Suite struct EndpointListTests {
    private static func pages(
        _ registry: TestRegistry,
        limit: Int,
        between: () async throws -> Void = {}
    ) async throws -> [PlatformEndpoint] {
        var all: [PlatformEndpoint] = []
        var after: ResourceID?
        repeat {
            let found = try await registry.ask { [after] in
                $0.endpoints(of: .shop, after: after, limit: limit, $1)
            }
            let page = try #require(found)
            #expect(page.items.count <= limit)
            all += page.items
            after = page.next
            try await between()
        } while after != nil
        return all
    }

    @Test func `A list has each endpoint once, whatever comes and goes meanwhile`() async throws {
        try await withRegistry { _, registry in
            try await registry.make(.shop)
            #expect(try await Self.pages(registry, limit: 10).isEmpty)
            var staying: Set<ResourceID> = []
            var going: [ResourceID] = []
            for number in 0..<300 {
                let id = try await registry.added(
                    "aa\(1000 + number)",
                    to: .shop,
                    userData: number % 3 == 0 ? "u" : nil
                )
                if number % 5 == 0 { going.append(id) } else { staying.insert(id) }
            }
            let all = try await Self.pages(registry, limit: 7)
            #expect(all.map(\.name.id) == (Array(staying) + going).sorted())
            #expect(all.count { $0.userData == "u" } == 100)
            var number = 5000
            let found = try await Self.pages(registry, limit: 10) {
                if let id = going.popLast() { _ = try await registry.delete(id, of: .shop) }
                _ = try await registry.added("bb\(number)", to: .shop)
                number += 1
            }
            let ids = found.map(\.name.id)
            #expect(ids == ids.sorted() && Set(ids).count == ids.count)
            #expect(staying.isSubset(of: ids))
            #expect(try await registry.ask { $0.endpoints(of: .other, $1) } == nil)
        }
    }

    @Test func `Endpoints of a user come from all applications, in pages`() async throws {
        try await withRegistry { _, registry in
            try await registry.make(.shop)
            try await registry.make(.other)
            var expected: Set<EndpointName> = []
            for number in 0..<40 {
                let application: ApplicationName = number % 2 == 0 ? .shop : .other
                let isHers = number % 4 < 3
                let id = try await registry.added("aa\(10 + number)", to: application, userData: isHers ? "her" : "his")
                if isHers { expected.insert(EndpointName(application: application, id: id)) }
            }
            var found: [EndpointName] = []
            var after: [UInt8]?
            repeat {
                let page = try await registry.ask { [after] in
                    $0.endpoints(withUserData: "her", after: after, limit: 7, $1)
                }
                #expect(page.items.allSatisfy { $0.userData == "her" })
                found += page.items.map(\.name)
                after = page.next
            } while after != nil
            #expect(found.count == expected.count && Set(found) == expected)
        }
    }

    /// Runs everything against a plain model: indexes that went wrong show sooner or later.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Indexes agree with the endpoints after anything at all`(seed: UInt64) async throws {
        try await withRegistry { redis, registry in
            var random = SeededRandom(seed: seed)
            try await registry.make(.shop)
            let tokens = (0..<12).map { EndpointToken("aa\(10 + $0)") }
            let users = ["u", "v", "w"]
            for _ in 0..<600 {
                let token = tokens.randomElement(using: &random)!
                let slot = ApplicationName.shop.slots(for: token).randomElement(using: &random)!
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    let user = Bool.random(using: &random) ? users.randomElement(using: &random) : nil
                    _ = try await registry.create(NewEndpoint(.shop, token: token, userData: user))
                case 2:
                    _ = try await registry.delete(slot, of: .shop)
                case 3:
                    let change = EndpointChange(userData: users.randomElement(using: &random)!)
                    _ = try await registry.set(slot, of: .shop, change)
                case 4:
                    let change = EndpointChange(token: tokens.randomElement(using: &random)!, isEnabled: true)
                    _ = try await registry.set(slot, of: .shop, change)
                default:
                    let verdict = TokenVerdict(.shop, token: token)
                    _ = try await registry.ask { $0.disable(verdict, $1) }
                }
            }
            let all = try await Self.pages(registry, limit: 100)
            let count = try await registry.ask { $0.application(.shop, $1) }?.endpoints
            #expect(count == all.count)
            for user in users {
                let found = try await registry.ask { $0.endpoints(withUserData: user, $1) }.items
                #expect(Set(found) == Set(all.filter { $0.userData == user }))
            }
            for token in tokens {
                let found = try await registry.ask { $0.endpoint(with: token, of: .shop, $1) }
                if let found {
                    #expect(found.token == token && all.contains(found))
                } else {
                    // Only one that shares its token and was not its last writer may be out of sight.
                    #expect(all.allSatisfy { $0.token != token || $0.mayShareToken })
                }
            }
            #expect(try redis.cli("ZCARD", "pf:sns:{apps}:disabled") == "\(all.count { !$0.isEnabled })")
            _ = try await registry.ask { $0.deleteApplication(.shop, $1) }
            try await registry.sweep(limit: 3)
            let keys = try redis.cli("KEYS", "*").split(separator: "\n").map(String.init)
            #expect(Set(keys) == ["pf:sns:{apps}:serial", "pf:sns:{apps}:numbers"])
        }
    }
}
