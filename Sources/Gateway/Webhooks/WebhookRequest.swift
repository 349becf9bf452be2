internal import Foundation
internal import Push
internal import SNS

/// What is posted to a subscriber, or put into its queue. Source: Amazon SNS Developer Guide, "HTTP/S headers" and
/// "Large payload and raw message delivery".
struct WebhookRequest: Sendable {
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    init(_ order: WebhookOrder, settings: GatewaySettings, signer: EnvelopeSigner) {
        let topic = settings.arn(topic: order.topic)
        let kind = SubscriberMessage.Kind(rawValue: order.kind) ?? .notification
        let subscription = SNS.UUID(order.subscription).map { SubscriptionARN(topic: topic, id: $0) }
        var headers = [
            ("x-amz-sns-message-type", kind.rawValue), ("x-amz-sns-message-id", order.messageID),
            ("x-amz-sns-topic-arn", "\(topic)"), ("Content-Type", order.contentType ?? "text/plain; charset=UTF-8"),
            ("User-Agent", "Amazon Simple Notification Service Agent"),
        ]
        // A subscriber learns its ARN by confirming.
        if kind != .subscriptionConfirmation, let subscription {
            headers.append(("x-amz-sns-subscription-arn", "\(subscription)"))
        }
        if order.isRaw, kind == .notification {
            headers.append(("x-amz-sns-rawdelivery", "true"))
            self.body = Array(order.text.utf8)
        } else {
            var message = SubscriberMessage(order, topic: topic)
            message.subscribeURL = order.token.map { signer.subscribeURL(topic, token: $0) }
            self.body = message.body(
                signer.seal(message, version: order.signatureVersion),
                unsubscribeURL: kind == .notification ? subscription.map(signer.unsubscribeURL) : nil
            )
        }
        self.headers = headers
    }
}

extension FanOutOrder.Attribute {
    /// As the envelope has it.
    var shown: SubscriberMessage.Attribute {
        SubscriberMessage.Attribute(
            name: self.name,
            type: self.type,
            value: self.text ?? self.binary?.base64EncodedString() ?? ""
        )
    }
}
