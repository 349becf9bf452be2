internal import APNs
internal import Broker

/// The idempotency key of a message.
enum MessageID {
    /// The publisher's `message_id`. A message without one is named by its body: the same on every redelivery, so that
    /// the `apns-id` of a push stays the same, at the price that equal bodies share a name.
    static func of(_ delivery: Delivery) -> [UInt8] {
        guard delivery.messageID.isEmpty else { return delivery.messageID }
        return Array("body-\(ApnsID(messageID: delivery.body, token: EmptyCollection()).string)".utf8)
    }
}
