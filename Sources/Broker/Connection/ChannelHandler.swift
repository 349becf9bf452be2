/// Answers and announcements of the broker on a channel, without messages and confirms.
enum ChannelMethod: Equatable {
    case exchangeDeclareOK
    case queueDeclareOK(messages: UInt32, consumers: UInt32)
    /// Bound, or no longer bound.
    case bindOK
    case purgeOK(messages: UInt32)
    case deleteOK
    case qosOK
    case consumeOK
    case cancelOK
    /// The broker ended our consumer: its queue was deleted or its node went away.
    case cancelledByBroker
    case getEmpty
    case confirmSelectOK
}

/// What a message is that arrived on a channel.
enum ContentKind: Equatable {
    case delivery
    /// The answer to `basic.get`.
    case got
    /// A publish of ours that could not be routed; `sequence` is the number it was sent with.
    case returned(code: UInt16, text: String, sequence: UInt64?)
}

/// Owns what goes on in a channel; always called on the connection's loop.
protocol ChannelHandler: AnyObject {
    func channelDidOpen(_ channel: Channel)
    func channel(_ channel: Channel, didReceive method: ChannelMethod)
    func channel(_ channel: Channel, didReceive kind: ContentKind, _ delivery: consuming Delivery)
    /// `basic.ack` or `basic.nack` from the broker: publishes up to, or only, this number are safe, or are not.
    func channel(_ channel: Channel, didConfirm sequence: UInt64, multiple: Bool, isNack: Bool)
    /// The turn ends and there is room; called after `setNeedsFlush`.
    func channelWillFlush(_ channel: Channel)
    /// The broker closed the channel, or the connection is gone. Not called after our own `close`.
    func channel(_ channel: Channel, didClose error: BrokerError)
}

extension ChannelHandler {
    func channel(_: Channel, didReceive _: ContentKind, _: consuming Delivery) {}
    func channel(_: Channel, didConfirm _: UInt64, multiple _: Bool, isNack _: Bool) {}
    func channelWillFlush(_: Channel) {}
}
