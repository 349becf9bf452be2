import Push
import TestServers
import Testing

@testable import Registry

@Suite struct DisablingTests {
    @Test func `A verdict disables only the registration that it is about`() async throws {
        try await withRegistry { _, registry in
            try await registry.make(.shop)
            let token = EndpointToken("aa01")
            let id = try await registry.added("aa01", to: .shop)
            let since = try #require(try await registry.get(id, of: .shop)).registeredAt
            func disable(
                _ token: EndpointToken,
                _ endpoint: ResourceID? = nil,
                generation: Int? = nil,
                since: UnixTime? = nil
            ) async throws -> Disabling {
                let verdict = TokenVerdict(
                    .shop,
                    token: token,
                    endpoint: endpoint,
                    generation: generation,
                    invalidSince: since
                )
                return try await registry.ask { $0.disable(verdict, $1) }
            }
            let nobody = ResourceID(naming: "nobody")
            #expect(try await disable(EndpointToken("aa02")) == .noEndpoint)
            #expect(try await disable(token, nobody) == .noEndpoint)
            #expect(try await disable(EndpointToken("aa02"), id) == .otherToken(id))
            #expect(try await disable(token, id, generation: 2) == .otherToken(id))
            #expect(try await disable(token, since: since) == .registeredLater(id))
            #expect(try await disable(token, since: UnixTime(milliseconds: 0)) == .registeredLater(id))
            #expect(try await registry.get(id, of: .shop)?.isEnabled == true)
            let later = UnixTime(milliseconds: since.milliseconds + 1)
            #expect(try await disable(token, generation: 1, since: later) == .disabled(id))
            #expect(try await disable(token) == .alreadyDisabled(id))
            #expect(try await registry.get(id, of: .shop)?.isEnabled == false)
            // Making it again does not revive it, setting it does, and then the old verdict is too old.
            #expect(try await registry.create(NewEndpoint(.shop, token: token)) == .existing(id))
            #expect(try await registry.get(id, of: .shop)?.isEnabled == false)
            let revival = EndpointChange(token: token, isEnabled: true)
            try await eventually("a millisecond passes") {
                #expect(try await registry.set(id, of: .shop, revival) != .missing)
                return try await registry.get(id, of: .shop).map { $0.registeredAt >= later } ?? false
            }
            #expect(try await disable(token, since: later) == .registeredLater(id))
            // One with another token by now is not disabled by what Apple said of the old one.
            _ = try await registry.set(id, of: .shop, EndpointChange(token: EndpointToken("aa03")))
            #expect(try await disable(token) == .noEndpoint)
            #expect(try await disable(token, id) == .otherToken(id))
            #expect(try await disable(EndpointToken("aa03")) == .disabled(id))
        }
    }

    @Test func `Long-disabled endpoints go in steps, oldest first, and others stay`() async throws {
        try await withRegistry { redis, registry in
            try await registry.make(.shop)
            try await registry.make(.other)
            var ids: [ResourceID] = []
            for number in 0..<25 {
                let id = try await registry.added("aa\(10 + number)", to: .shop)
                ids.append(id)
                if number < 20 { _ = try await registry.set(id, of: .shop, EndpointChange(isEnabled: false)) }
            }
            _ = try await registry.set(ids[0], of: .shop, EndpointChange(isEnabled: true))
            let gone = try await registry.added("ee", to: .other)
            _ = try await registry.set(gone, of: .other, EndpointChange(isEnabled: false))
            _ = try await registry.ask { $0.deleteApplication(.other, $1) }
            let none = try await registry.ask { $0.purge(disabledFor: .seconds(3600), limit: 10, $1) }
            #expect(none == Purged(endpoints: [], hasMore: false))
            var purged: [EndpointName] = []
            var steps = 0
            while true {
                let step = try await registry.ask { $0.purge(disabledFor: .zero, limit: 10, $1) }
                #expect(step.endpoints.count <= 10)
                purged += step.endpoints
                steps += 1
                if !step.hasMore { break }
            }
            #expect(steps >= 2)
            #expect(Set(purged) == Set(ids[1..<20].map { EndpointName(application: .shop, id: $0) }))
            let left = try await registry.ask { $0.endpoints(of: .shop, $1) }?.items.map(\.name.id) ?? []
            #expect(Set(left) == Set(ids[20...] + [ids[0]]))
            #expect(try redis.cli("EXISTS", "pf:sns:{apps}:disabled") == "0")
        }
    }
}
