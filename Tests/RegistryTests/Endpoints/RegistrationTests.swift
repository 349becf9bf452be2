import Push
import Store
import TestServers
import Testing

@testable import Registry

/// The algorithm that Amazon recommends to apps: remember an endpoint, make it if there is none, get it, and set it when
/// token or state differ. Source: Amazon, "Creating an endpoint and managing device tokens".
private struct Registration {
    let registry: TestRegistry
    let token: EndpointToken
    let userData: String?
    /// What the app's backend has stored; nil for nothing.
    var stored: ResourceID?
    private(set) var writes = 0

    init(registry: TestRegistry, token: EndpointToken, userData: String? = nil, stored: ResourceID? = nil) {
        self.registry = registry
        self.token = token
        self.userData = userData
        self.stored = stored
    }

    mutating func run() async throws {
        var isFresh = false
        if self.stored == nil {
            try await self.create()
            isFresh = true
        }
        for _ in 0..<10 {
            guard let id = self.stored else { throw NeverHappened(description: "an endpoint was made") }
            guard let found = try await self.registry.get(id, of: .shop) else {
                guard !isFresh || self.writes < 20 else { throw NeverHappened(description: "it ends") }
                try await self.create()
                continue
            }
            guard found.token != self.token || !found.isEnabled else { return }
            self.writes += 1
            let change = EndpointChange(token: self.token, isEnabled: true)
            if try await self.registry.set(id, of: .shop, change) != .missing { return }
        }
    }

    /// The conflict names the endpoint, and the app takes that one.
    private mutating func create() async throws {
        let new = NewEndpoint(.shop, token: self.token, userData: self.userData)
        switch try await self.registry.create(new) {
        case .created(let id):
            self.writes += 1
            self.stored = id
        case .existing(let id), .conflict(let id): self.stored = id
        case .slotsTaken, .noApplication: throw NeverHappened(description: "it can be made")
        }
    }
}

@Suite struct RegistrationTests {
    private static let token = EndpointToken("aa01")
    private static let old = EndpointToken("bb01")

    /// Where a device may start from.
    enum Start: CaseIterable, Sendable {
        case nothing, storedButDeleted, sameToken, otherToken, disabled, disabledOtherToken, otherUser, notStored
        case notStoredAndDisabled, tokenElsewhere
    }

    /// Brings the registry there; what the app has stored.
    private static func prepare(_ start: Start, _ registry: TestRegistry) async throws -> ResourceID? {
        try await registry.make(.shop)
        let off = EndpointChange(isEnabled: false)
        func make(_ token: EndpointToken, _ user: String? = nil) async throws -> ResourceID {
            try await registry.added(token.text, to: .shop, userData: user)
        }
        switch start {
        case .nothing: return nil
        case .storedButDeleted: return ApplicationName.shop.slots(for: self.token)[0]
        case .sameToken: return try await make(self.token)
        case .otherToken: return try await make(self.old)
        case .disabled:
            let id = try await make(self.token)
            _ = try await registry.set(id, of: .shop, off)
            return id
        case .disabledOtherToken:
            let id = try await make(self.old)
            _ = try await registry.set(id, of: .shop, off)
            return id
        case .otherUser: return try await make(self.token, "someone else")
        case .notStored:
            _ = try await make(self.token, "someone else")
            return nil
        case .notStoredAndDisabled:
            let id = try await make(self.token)
            _ = try await registry.set(id, of: .shop, off)
            return nil
        case .tokenElsewhere:
            let other = try await make(EndpointToken("cc01"))
            _ = try await registry.set(other, of: .shop, EndpointChange(token: self.token))
            return try await make(self.old)
        }
    }

    /// Everything in Redis, but for the order of hashes and the times at which a token was confirmed.
    private static func dump(_ redis: PrivateRedis, _ registry: TestRegistry) async throws -> [PlatformEndpoint] {
        try await registry.ask { $0.endpoints(of: .shop, limit: 100, $1) }?.items ?? []
    }

    @Test(arguments: Start.allCases)
    func `It converges from every state, and a second run writes nothing`(start: Start) async throws {
        try await withRegistry { redis, registry in
            var app = Registration(
                registry: registry,
                token: Self.token,
                userData: "me",
                stored: try await Self.prepare(start, registry)
            )
            try await app.run()
            let id = try #require(app.stored)
            let endpoint = try await registry.get(id, of: .shop)
            #expect(endpoint?.isEnabled == true && endpoint?.token == Self.token)
            let before = try await Self.dump(redis, registry)
            var again = Registration(registry: registry, token: Self.token, userData: "me", stored: id)
            try await again.run()
            #expect(again.writes == 0 && again.stored == id)
            var lost = Registration(registry: registry, token: Self.token, userData: "me")
            try await lost.run()
            #expect(lost.writes == 0)
            #expect(try await Self.dump(redis, registry) == before)
        }
    }

    @Test(arguments: Start.allCases)
    func `Eight at once for one token agree`(start: Start) async throws {
        try await withRegistry { redis, registry in
            let stored = try await Self.prepare(start, registry)
            let address = redis
            let ids = try await withThrowingTaskGroup(of: ResourceID?.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        // A connection of its own each.
                        let own = try await TestRegistry(address)
                        var app = Registration(
                            registry: own,
                            token: Self.token,
                            userData: number % 2 == 0 ? "me" : nil,
                            stored: stored
                        )
                        try await app.run()
                        return app.stored
                    }
                }
                var ids: Set<ResourceID> = []
                for try await id in group { if let id { ids.insert(id) } }
                return ids
            }
            #expect(ids.count == 1)
            let id = try #require(ids.first)
            let endpoint = try await registry.get(id, of: .shop)
            #expect(endpoint?.isEnabled == true && endpoint?.token == Self.token)
            let before = try await Self.dump(redis, registry)
            var again = Registration(registry: registry, token: Self.token, stored: id)
            try await again.run()
            #expect(again.writes == 0)
            #expect(try await Self.dump(redis, registry) == before)
        }
    }
}
