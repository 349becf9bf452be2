internal import Crypto
internal import Push
internal import Store

/// What became of a subscription that has to be confirmed.
package enum PendingSubscribing: Hashable, Sendable {
    /// It waits; the token is to be sent to the subscriber and to nobody else.
    case pending(ResourceID, token: String)
    /// It was there and confirmed, and says the same of all that was given.
    case existing(ResourceID)
    /// It was there, and an attribute that was given is another one or new.
    case otherAttributes(ResourceID)
    case noTopic
}

/// What became of a confirmation.
package enum Confirming: Hashable, Sendable {
    /// Also when it had been confirmed with the same token before.
    case confirmed(ResourceID)
    /// It is nobody's, or its time is over.
    case badToken
    case noTopic
}

/// What became of a subscription that was to end.
package enum Unsubscribing: Hashable, Sendable {
    /// - Parameter farewell: of an http subscriber, who is told.
    case removed(farewell: Farewell?)
    case absent
    /// Only signed calls may end it.
    case needsSignature

    package struct Farewell: Hashable, Sendable {
        package var transport: String
        package var endpoint: String
        /// Brings the subscription back.
        package var token: String
        /// As JSON.
        package var deliveryPolicy: String?
    }
}

extension Registry {
    /// How long a token is good. Source: Amazon SNS API reference, ConfirmSubscription.
    package static let confirmationLife = Duration.seconds(3 * 24 * 3600)

    /// Subscribes somebody who has to confirm it, or finds the subscription that is there.
    package func subscribePending(
        _ transport: String,
        _ endpoint: String,
        to topic: String,
        attributes: [String: String] = [:],
        principal: String,
        life: Duration = Registry.confirmationLife,
        _ completion: @escaping Completion<PendingSubscribing>
    ) {
        var call = RegistryScript.call(ConfirmationScripts.subscribe)
        for text in [topic, transport, endpoint, Self.secret(32), Self.secret(32)] { call.add(text) }
        call.add(milliseconds: life)
        call.add(principal)
        call.add(attributes)
        self.run(call, completion) { reply in
            switch (reply.text(), reply.id()) {
            case ("pending", let id?):
                return reply.text().map { .pending(id, token: Hex.encode(id.bytes) + $0) }
            case ("existing", let id?): return .existing(id)
            case ("otherAttributes", let id?): return .otherAttributes(id)
            case ("noTopic", nil): return .noTopic
            default: return nil
            }
        }
    }

    /// Confirms with a token that was sent to the subscriber. Source: Amazon SNS API reference, ConfirmSubscription.
    package func confirm(
        topic: String,
        token: String,
        isSigned: Bool,
        needsSignature: Bool,
        _ completion: @escaping Completion<Confirming>
    ) {
        let token = Array(token.utf8)
        let digits = token.prefix(32)
        guard token.count == 96, let id = Hex.decode(Array(digits)).flatMap(ResourceID.init(bytes:)) else {
            // Not within the call, as for all others.
            return self.topic(topic) { result in
                completion(result.map { $0 == nil ? .noTopic : .badToken })
            }
        }
        var call = Self.call(ConfirmationScripts.confirm, SubscriptionName(topic: topic, id: id))
        call.add(Array(token.dropFirst(32)))
        call.add(isSigned)
        call.add(needsSignature)
        self.run(call, completion) { reply in
            switch reply.text() {
            case "confirmed": .confirmed(id)
            case "badToken": .badToken
            case "noTopic": .noTopic
            default: nil
            }
        }
    }

    /// Ends a subscription. Who is not signed may end those of http subscribers only.
    package func unsubscribe(
        _ name: SubscriptionName,
        isSigned: Bool = true,
        _ completion: @escaping Completion<Unsubscribing>
    ) {
        var call = Self.call(ConfirmationScripts.unsubscribe, name)
        call.add(isSigned)
        call.add(milliseconds: Self.confirmationLife)
        self.run(call, completion) { reply in
            switch reply.text() {
            case "removed":
                if reply.isAtEnd { return .removed(farewell: nil) }
                guard let transport = reply.text(), let endpoint = reply.text(), let token = reply.text(),
                    let policy = reply.text()
                else { return nil }
                return .removed(
                    farewell: Unsubscribing.Farewell(
                        transport: transport,
                        endpoint: endpoint,
                        token: Hex.encode(name.id.bytes) + token,
                        deliveryPolicy: policy.isEmpty ? nil : policy
                    )
                )
            case "absent": return .absent
            case "refused": return .needsSignature
            default: return nil
            }
        }
    }

    /// Random bytes as hexadecimal digits.
    private static func secret(_ count: Int) -> String {
        SymmetricKey(size: .init(bitCount: count * 8)).withUnsafeBytes { Hex.encode($0) }
    }
}
