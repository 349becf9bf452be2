import Push
import TestServers
import Testing

@testable import Registry

@Suite struct SubscriptionTests {
    private static func prepare(_ registry: TestRegistry, topics: String...) async throws -> EndpointName {
        try await registry.make(.shop)
        for topic in topics { _ = try await registry.ask { $0.createTopic(topic, $1) } }
        return EndpointName(application: .shop, id: try await registry.added("aa01", to: .shop))
    }

    private static func subscribe(
        _ endpoint: EndpointName,
        _ topic: String,
        _ attributes: [String: String] = [:],
        in registry: TestRegistry
    ) async throws -> Subscribing {
        try await registry.ask { $0.subscribe(.endpoint(endpoint), to: topic, attributes: attributes, $1) }
    }

    @Test func `Subscribing twice finds the subscription, unless other attributes are given`() async throws {
        try await withRegistry { _, registry in
            let endpoint = try await Self.prepare(registry, topics: "t")
            let nobody = EndpointName(application: .shop, id: ResourceID(naming: "nobody"))
            let stranger = EndpointName(application: .other, id: endpoint.id)
            #expect(try await Self.subscribe(endpoint, "none", in: registry) == .noTopic)
            #expect(try await Self.subscribe(nobody, "t", in: registry) == .noEndpoint)
            #expect(try await Self.subscribe(stranger, "t", in: registry) == .noEndpoint)
            let policy = ["FilterPolicy": #"{"a":["b"]}"#]
            guard case .created(let id) = try await Self.subscribe(endpoint, "t", policy, in: registry) else {
                throw NeverHappened(description: "new")
            }
            #expect(Array(id.description)[14] == "4")
            #expect(try await Self.subscribe(endpoint, "t", in: registry) == .existing(id))
            #expect(try await Self.subscribe(endpoint, "t", policy, in: registry) == .existing(id))
            let other = ["RawMessageDelivery": "true"]
            #expect(try await Self.subscribe(endpoint, "t", other, in: registry) == .otherAttributes(id))
            let name = SubscriptionName(topic: "t", id: id)
            let found = try await registry.ask { $0.subscription(name, $1) }
            #expect(found == Subscription(name: name, subscriber: .endpoint(endpoint), attributes: policy))
            func set(_ value: String?) async throws -> Change {
                try await registry.ask { $0.setSubscription(name, attribute: "FilterPolicy", to: value, $1) }
            }
            #expect(try await set("{}") == .changed)
            #expect(try await set("{}") == .unchanged)
            #expect(try await set(nil) == .changed)
            #expect(try await registry.ask { $0.subscription(name, $1) }?.attributes.isEmpty == true)
            #expect(try await registry.ask { $0.topic("t", $1) }?.subscriptions == 1)
            #expect(try await registry.ask { $0.unsubscribe(name, $1) } == .removed(farewell: nil))
            #expect(try await registry.ask { $0.unsubscribe(name, $1) } == .absent)
            #expect(try await registry.ask { $0.subscription(name, $1) } == nil)
            #expect(try await set("x") == .missing)
        }
    }

    @Test func `Subscriptions are listed by topic, by endpoint and all together, also other protocols`() async throws {
        try await withRegistry { _, registry in
            let topics = (0..<12).map { "topic-\(10 + $0)" }
            let first = try await Self.prepare(registry)
            let second = EndpointName(application: .shop, id: try await registry.added("aa02", to: .shop))
            for topic in topics { _ = try await registry.ask { $0.createTopic(topic, $1) } }
            let queue = Subscriber.other(protocol: "sqs", endpoint: "arn:aws:sqs:eu-west-1:1:q with space")
            for (number, topic) in topics.enumerated() where number != 5 {
                for subscriber in [Subscriber.endpoint(first), .endpoint(second), queue] {
                    _ = try await registry.ask { $0.subscribe(subscriber, to: topic, $1) }
                }
            }
            for limit in [1, 7, 33, 100] {
                var found: [Subscription] = []
                var after: SubscriptionName?
                repeat {
                    let page = try await registry.ask { [after] in $0.subscriptions(after: after, limit: limit, $1) }
                    #expect(page.items.count <= limit)
                    found += page.items
                    after = page.next
                } while after != nil
                #expect(found.count == 33 && Set(found).count == 33)
                #expect(found.count { $0.subscriber == queue } == 11)
            }
            var found: [Subscription] = []
            var after: [UInt8]?
            repeat {
                let page = try await registry.ask { [after] in $0.subscriptions(of: first, after: after, limit: 4, $1) }
                found += page.items
                after = page.next
            } while after != nil
            #expect(found.count == 11 && Set(found.map(\.name.topic)).count == 11)
            #expect(found.allSatisfy { $0.subscriber == .endpoint(first) })
            let page = try await registry.ask { $0.subscriptions(to: topics[0], limit: 2, $1) }
            let rest = try await registry.ask { $0.subscriptions(to: topics[0], after: page?.next, limit: 2, $1) }
            #expect(page?.items.count == 2 && rest?.items.count == 1 && rest?.next == nil)
            #expect(try await registry.ask { $0.subscriptions(to: "none", $1) } == nil)
        }
    }

    @Test func `Recipients come in stable chunks with all that a push needs`() async throws {
        try await withRegistry { redis, registry in
            let fleet = FleetApp(id: "sns.shop", settings: "{}", credential: nil)
            _ = try await registry.ask { $0.createApplication(.shop, attributes: [:], fleet: fleet, $1) }
            _ = try await registry.ask {
                $0.createApplication(.other, attributes: ["Enabled": "false"], fleet: nil, $1)
            }
            _ = try await registry.ask { $0.createTopic("t", $1) }
            #expect(try await registry.ask { $0.recipients(of: "none", limit: 10, $1) } == nil)
            var names: [EndpointName] = []
            for number in 0..<200 {
                let application: ApplicationName = number % 4 == 0 ? .other : .shop
                let id = try await registry.added("aa\(1000 + number)", to: application, userData: "u\(number)")
                let name = EndpointName(application: application, id: id)
                let policy = number % 10 == 0 ? ["FilterPolicy": "{}", "FilterPolicyScope": "MessageBody"] : [:]
                _ = try await registry.ask { $0.subscribe(.endpoint(name), to: "t", attributes: policy, $1) }
                names.append(name)
            }
            let queue = Subscriber.other(protocol: "sqs", endpoint: "q")
            _ = try await registry.ask { $0.subscribe(queue, to: "t", $1) }
            #expect(try await registry.delete(names[3].id, of: .shop) == .removed)
            _ = try await registry.set(names[5].id, of: .shop, EndpointChange(isEnabled: false))
            var found: [Recipient] = []
            var after: ResourceID?
            repeat {
                let first = try await registry.ask { [after] in $0.recipients(of: "t", after: after, limit: 30, $1) }
                let chunk = try #require(first)
                let again = try await registry.ask { [after] in $0.recipients(of: "t", after: after, limit: 30, $1) }
                #expect(again == chunk)
                found += chunk.recipients
                after = chunk.next
            } while after != nil
            #expect(found.count == 201 && Set(found.map(\.subscription)).count == 201)
            #expect(found.map(\.subscription) == found.map(\.subscription).sorted())
            #expect(found.count { $0.subscriber == .dangling } == 1)
            #expect(found.count { $0.subscriber == .other(protocol: "sqs", endpoint: "q") } == 1)
            #expect(found.count { $0.filterPolicy == "{}" && $0.filterPolicyScope == "MessageBody" } == 20)
            var endpoints: Set<EndpointName> = []
            for case .endpoint(let endpoint, let isEnabled, let fleetApp) in found.map(\.subscriber) {
                endpoints.insert(endpoint.name)
                #expect(isEnabled == (endpoint.name.application == .shop))
                #expect(fleetApp == (endpoint.name.application == .shop ? "sns.shop" : nil))
                #expect(endpoint.isEnabled == (endpoint.name != names[5]))
                #expect(endpoint.userData != nil)
            }
            #expect(endpoints == Set(names).subtracting([names[3]]))
        }
    }

    @Test(arguments: [false, true])
    func `Subscriptions of a deleted endpoint stay until they are swept, or go with it`(cascades: Bool) async throws {
        try await withRegistry(cascades: cascades) { redis, registry in
            let endpoint = try await Self.prepare(registry, topics: "t", "u")
            for topic in ["t", "u"] {
                let policy = ["FilterPolicy": "{}"]
                guard case .created = try await Self.subscribe(endpoint, topic, policy, in: registry) else {
                    throw NeverHappened(description: "new")
                }
            }
            #expect(try await registry.delete(endpoint.id, of: .shop) == .removed)
            func listed() async throws -> Int { try await registry.ask { $0.subscriptions($1) }.items.count }
            #expect(try await listed() == (cascades ? 0 : 2))
            #expect(try await registry.ask { $0.subscriptions(of: endpoint, $1) }.items.count == (cascades ? 0 : 2))
            // One that is registered again in time has them back.
            #expect(try await registry.added("aa01", to: .shop) == endpoint.id)
            try await registry.sweep()
            #expect(try await listed() == (cascades ? 0 : 2))
            #expect(try await registry.delete(endpoint.id, of: .shop) == .removed)
            let early = try await registry.ask { $0.sweep(olderThan: .seconds(3600), $1) }
            #expect(early == Swept(count: 0, hasMore: false))
            #expect(try await registry.sweep(limit: 1) == (cascades ? 0 : 2))
            #expect(try await listed() == 0)
            let keys = try redis.cli("KEYS", "*")
            for part in [":s:", ":f:", ":r:", ":dangling"] { #expect(!keys.contains(part), "\(keys)") }
        }
    }

    @Test func `A deleted topic takes its subscriptions along, and one of the same name begins empty`() async throws {
        try await withRegistry { redis, registry in
            let endpoint = try await Self.prepare(registry, topics: "t", "u")
            let policy = ["FilterPolicy": "{}"]
            for topic in ["t", "u"] { _ = try await Self.subscribe(endpoint, topic, policy, in: registry) }
            #expect(try await registry.ask { $0.deleteTopic("t", $1) } == .removed)
            #expect(try await registry.ask { $0.subscriptions(to: "t", $1) } == nil)
            #expect(try await registry.ask { $0.subscriptions(of: endpoint, $1) }.items.map(\.name.topic) == ["u"])
            _ = try await registry.ask { $0.createTopic("t", $1) }
            #expect(try await registry.ask { $0.subscriptions(to: "t", $1) }?.items.isEmpty == true)
            guard case .created = try await Self.subscribe(endpoint, "t", in: registry) else {
                throw NeverHappened(description: "new")
            }
            #expect(try await registry.sweep() == 1)
            #expect(try await registry.ask { $0.subscriptions(of: endpoint, $1) }.items.count == 2)
            #expect(try await registry.ask { $0.recipients(of: "t", limit: 10, $1) }?.recipients.count == 1)
        }
    }

    @Test func `A subscription of an application that was made again is made again as well`() async throws {
        try await withRegistry { _, registry in
            let endpoint = try await Self.prepare(registry, topics: "t")
            guard case .created(let id) = try await Self.subscribe(endpoint, "t", in: registry) else {
                throw NeverHappened(description: "new")
            }
            _ = try await registry.ask { $0.deleteApplication(.shop, $1) }
            try await registry.make(.shop)
            #expect(try await registry.added("aa01", to: .shop) == endpoint.id)
            #expect(try await Self.subscribe(endpoint, "t", in: registry) == .created(id))
            try await registry.sweep()
            let recipients = try await registry.ask { $0.recipients(of: "t", limit: 10, $1) }?.recipients
            #expect(recipients?.count == 1 && recipients?.first?.subscriber != .dangling)
        }
    }
}
