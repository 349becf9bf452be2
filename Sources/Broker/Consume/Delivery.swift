package import Push

/// Names one delivery: tags are counted per channel and die with it.
package struct DeliveryID: Hashable, Sendable {
    /// Which life of which channel, unique in this process; an id of an older life settles nothing.
    package let epoch: UInt32
    package let channel: UInt16
    package let tag: UInt64
}

/// A message that the broker handed to us and that waits for its settlement.
package struct Delivery: Sendable {
    package internal(set) var id = DeliveryID(epoch: 0, channel: 0, tag: 0)
    /// It was handed out before, to us or somebody else. A hint only: true after any requeue.
    package internal(set) var redelivered = false
    package internal(set) var exchange = ""
    package internal(set) var routingKey = ""
    /// The publisher's `message_id`; empty if there is none.
    package internal(set) var messageID: [UInt8] = []
    package internal(set) var contentType = ""
    /// The publisher's `timestamp`.
    package internal(set) var timestamp: UnixTime?
    package internal(set) var headers = DeliveryHeaders()
    package internal(set) var body: [UInt8] = []

    init() {}
}

/// What we read of a message's header table. Publishers write what they like there: a value of the wrong type counts
/// as absent, numbers are clamped, and what is deep or long is left out.
package struct DeliveryHeaders: Equatable, Sendable {
    /// `x-pushfleet-attempt`: attempts already made, 0 to a million.
    package internal(set) var attempt = 0
    /// `x-pushfleet-copy`: how many copies lie between it and what was published, 0 to a million.
    package internal(set) var copy = 0
    /// `x-pushfleet-first-seen`: when a worker first saw the message, in milliseconds since 1970.
    package internal(set) var firstSeen: UnixTime?
    /// `x-pushfleet-reason`: why a worker gave the message its last settlement.
    package internal(set) var reason: String?
    /// `x-pushfleet-once`: tells several publishes of one message apart, of which only the first counts.
    package internal(set) var once: String?
    /// `x-pushfleet-schedule`: the name under which a push that waits for its time may be cancelled.
    package internal(set) var schedule: String?
    /// `x-pushfleet-replay`: the dead letter that was published again as this message.
    package internal(set) var replay: String?
    /// `x-pushfleet-unfinished`: some of its tokens may be done, as of a message that is delivered again.
    package internal(set) var isUnfinished = false
    /// `x-delivery-count`: how often a quorum queue handed it out before. Written by the broker.
    package internal(set) var deliveryCount = 0
    /// `x-first-death-reason` as the broker, or whoever copied the message, wrote it. For display only.
    package internal(set) var firstDeathReason: DeathReason?
    /// Plain values that publishers added, such as a trace context, so that a copy can carry them on: no name that
    /// begins with `x-`, at most 32 of them and 16 KiB together.
    package internal(set) var foreign: [Header] = []
    /// Everything, for display; only where it was asked for.
    package internal(set) var all: [Header] = []

    package static let attemptName = "x-pushfleet-attempt"
    package static let copyName = "x-pushfleet-copy"
    package static let firstSeenName = "x-pushfleet-first-seen"
    package static let reasonName = "x-pushfleet-reason"
    package static let onceName = "x-pushfleet-once"
    package static let scheduleName = "x-pushfleet-schedule"
    package static let replayName = "x-pushfleet-replay"
    package static let unfinishedName = "x-pushfleet-unfinished"

    /// Why the broker dead-lettered a message (https://www.rabbitmq.com/dlx.html).
    package enum DeathReason: String, Sendable {
        case expired, rejected, maxlen
        case deliveryLimit = "delivery_limit"
        case other
    }
}
