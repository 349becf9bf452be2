import Push
import TestServers
import Testing

@testable import Registry

/// Subscribers who have to say themselves that they want to be ones.
@Suite struct ConfirmationTests {
    private static let url = "https://a.example/hook?x=y z"

    private static func subscribe(
        _ registry: TestRegistry,
        _ attributes: [String: String] = [:],
        life: Duration = Registry.confirmationLife
    ) async throws -> PendingSubscribing {
        try await registry.ask {
            $0.subscribePending("https", Self.url, to: "t", attributes: attributes, principal: "me", life: life, $1)
        }
    }

    private static func pending(_ registry: TestRegistry) async throws -> (ResourceID, String) {
        guard case .pending(let id, let token) = try await Self.subscribe(registry) else {
            throw NeverHappened(description: "pending")
        }
        return (id, token)
    }

    private static func confirm(
        _ registry: TestRegistry,
        _ token: String,
        needsSignature: Bool = false
    ) async throws -> Confirming {
        try await registry.ask {
            $0.confirm(topic: "t", token: token, isSigned: needsSignature, needsSignature: needsSignature, $1)
        }
    }

    private static func recipients(_ registry: TestRegistry) async throws -> [Recipient] {
        try await Self.page(registry).recipients
    }

    private static func page(_ registry: TestRegistry) async throws -> Recipients {
        guard let page = try await registry.ask({ $0.recipients(of: "t", limit: 10, $1) }) else {
            throw NeverHappened(description: "the topic is there")
        }
        return page
    }

    @Test func `A subscriber gets nothing before it has confirmed with its token`() async throws {
        try await withRegistry { _, registry in
            #expect(try await Self.subscribe(registry) == .noTopic)
            #expect(try await Self.confirm(registry, String(repeating: "0", count: 96)) == .noTopic)
            _ = try await registry.ask { $0.createTopic("t", $1) }
            let (id, token) = try await Self.pending(registry)
            #expect(token.utf8.count == 96 && Array(id.description)[14] == "4")
            // Asked again it has the same token, for new time.
            #expect(try await Self.subscribe(registry) == .pending(id, token: token))
            #expect(try await Self.subscribe(registry, ["RawMessageDelivery": "true"]) == .otherAttributes(id))
            #expect(try await Self.recipients(registry).isEmpty)
            let name = SubscriptionName(topic: "t", id: id)
            let waiting = try #require(try await registry.ask { $0.subscription(name, $1) })
            #expect(waiting.confirmation?.isPending == true && waiting.attributes.isEmpty)
            #expect(waiting.subscriber == .other(protocol: "https", endpoint: Self.url))
            #expect(try await registry.ask { $0.topic("t", $1) }?.pending == 1)
            for wrong in ["", "x", String(token.dropLast()), String(token.dropLast()) + "x", token + "0"] {
                #expect(try await Self.confirm(registry, wrong) == .badToken)
            }
            #expect(try await Self.confirm(registry, token) == .confirmed(id))
            #expect(try await Self.confirm(registry, token) == .confirmed(id))
            #expect(try await Self.subscribe(registry) == .existing(id))
            #expect(try await Self.recipients(registry).count == 1)
            let topic = try await registry.ask { $0.topic("t", $1) }
            #expect(topic?.pending == 0 && topic?.subscriptions == 1)
        }
    }

    @Test func `Who has not confirmed in time is swept, and its token is worth nothing before that`() async throws {
        try await withRegistry { _, registry in
            _ = try await registry.ask { $0.createTopic("t", $1) }
            guard case .pending(let id, let token) = try await Self.subscribe(registry, life: .milliseconds(1)) else {
                throw NeverHappened(description: "pending")
            }
            // One that still has time stays.
            _ = try await registry.ask { $0.subscribePending("http", "http://b/", to: "t", principal: "me", $1) }
            try await eventually("its time is over") { try await Self.confirm(registry, token) == .badToken }
            try await registry.sweep()
            #expect(try await registry.ask { $0.subscription(SubscriptionName(topic: "t", id: id), $1) } == nil)
            let topic = try await registry.ask { $0.topic("t", $1) }
            #expect(topic?.pending == 1 && topic?.subscriptions == 1)
        }
    }

    @Test func `Without a signature only http subscribers leave, unless they wanted otherwise, and they may come back`()
        async throws
    {
        try await withRegistry { _, registry in
            _ = try await registry.ask { $0.createTopic("t", $1) }
            let (id, token) = try await Self.pending(registry)
            let name = SubscriptionName(topic: "t", id: id)
            func leave(_ name: SubscriptionName, isSigned: Bool) async throws -> Unsubscribing {
                try await registry.ask { $0.unsubscribe(name, isSigned: isSigned, $1) }
            }
            _ = try await Self.confirm(registry, token)
            let farewell = Unsubscribing.Farewell(
                transport: "https",
                endpoint: Self.url,
                token: token,
                deliveryPolicy: nil
            )
            #expect(try await leave(name, isSigned: false) == .removed(farewell: farewell))
            #expect(try await leave(name, isSigned: false) == .absent)
            #expect(try await Self.recipients(registry).isEmpty)
            #expect(try await Self.confirm(registry, String(repeating: "0", count: 96)) == .badToken)
            #expect(try await Self.confirm(registry, token) == .confirmed(id))
            #expect(try await Self.recipients(registry).count == 1)
            // Subscribed anew after it has left, it is asked again.
            _ = try await leave(name, isSigned: true)
            let (again, other) = try await Self.pending(registry)
            #expect(again == id && other != token)
            #expect(try await Self.confirm(registry, token) == .badToken)
            #expect(try await Self.confirm(registry, other, needsSignature: true) == .confirmed(id))
            #expect(try await leave(name, isSigned: false) == .needsSignature)
            #expect(try await registry.ask { $0.subscription(name, $1) }?.confirmation?.wasAuthenticated == true)
            let queue = Subscriber.other(protocol: "sqs", endpoint: "q")
            guard case .created(let sqs) = try await registry.ask({ $0.subscribe(queue, to: "t", $1) }) else {
                throw NeverHappened(description: "created")
            }
            #expect(try await leave(SubscriptionName(topic: "t", id: sqs), isSigned: false) == .needsSignature)
        }
    }

    @Test func `A topic that goes takes what waits along`() async throws {
        try await withRegistry { _, registry in
            _ = try await registry.ask { $0.createTopic("t", $1) }
            let (_, token) = try await Self.pending(registry)
            _ = try await registry.ask { $0.deleteTopic("t", $1) }
            #expect(try await Self.confirm(registry, token) == .noTopic)
            _ = try await registry.ask { $0.createTopic("t", $1) }
            try await registry.sweep()
            #expect(try await Self.confirm(registry, token) == .badToken)
            #expect(try await registry.ask { $0.topic("t", $1) }?.pending == 0)
        }
    }

    @Test func `Topics and subscribers say how messages are delivered`() async throws {
        try await withRegistry { _, registry in
            _ = try await registry.ask { $0.createTopic("t", attributes: ["SignatureVersion": "2"], $1) }
            let queue = Subscriber.other(protocol: "sqs", endpoint: "q")
            let attributes = ["RawMessageDelivery": "true", "RedrivePolicy": "{}", "DeliveryPolicy": "[]"]
            _ = try await registry.ask { $0.subscribe(queue, to: "t", attributes: attributes, $1) }
            let first = try await Self.page(registry)
            let delivery = Recipient.Delivery(isRaw: true, redrivePolicy: "{}", deliveryPolicy: "[]")
            #expect(first.recipients.first?.delivery == delivery)
            #expect(first.topic.signatureVersion == "2" && !first.topic.isLogged)
            let logs = ["ApplicationFailureFeedbackRoleArn": "arn", "DeliveryPolicy": "{}"]
            _ = try await registry.ask { $0.setTopic("t", attributes: logs, $1) }
            let second = try await Self.page(registry)
            #expect(second.topic.isLogged && second.topic.deliveryPolicy == "{}")
        }
    }

    @Test func `The first signing key that is offered is everybody's`() async throws {
        try await withRegistry { _, registry in
            for offered in ["a", "b"] {
                let offer = SealedCredential(text: offered)
                let found = try await registry.ask { registry, done in registry.offerSigningKey(offer, done) }
                #expect(found?.text == "a")
            }
            let found = try await registry.ask { registry, done in registry.signingKey(done) }
            #expect(found?.text == "a")
        }
    }
}
