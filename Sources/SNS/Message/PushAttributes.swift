package import Push

/// The headers of a push that its message's attributes give; nil for one that they do not.
///
/// Amazon's are `AWS.SNS.MOBILE.APNS.TOPIC`, `.PUSH_TYPE`, `.PRIORITY` and `.COLLAPSE_ID` for all of Apple's platforms, and
/// `AWS.SNS.MOBILE.<PLATFORM>.TTL`. Beyond Amazon's: `.CHANNEL_ID`, and each header of Apple's by its own name, such as
/// `apns-expiration`.
package struct PushAttributes: Equatable, Sendable {
    package private(set) var topic: String?
    package private(set) var pushType: PushType?
    package private(set) var priority: Priority?
    package private(set) var collapseID: String?

    /// In seconds from the publishing; 0 is now or never.
    package private(set) var timeToLive: Int64?

    /// `apns-expiration`, Unix seconds; goes before a time to live.
    package private(set) var expiration: Int64?

    /// A broadcast channel: the push goes to its subscribers and not to a device.
    package private(set) var channelID: String?

    /// `start`, `update` or `end` of a Live Activity: its payload is checked against Apple's rules.
    package private(set) var liveActivity: String?

    /// Beyond Amazon's: what a push does to a Live Activity.
    static let liveActivityName = "pushfleet.live_activity"

    package init() {}

    /// - Parameter fallsBack: whether a sandbox heeds the time to live of production where its own is not given.
    /// - Throws: `InvalidParameter` for values that Apple would not take.
    package init(_ attributes: MessageAttributes, platform: Platform, fallsBack: Bool = false) throws(SNSError) {
        guard !attributes.all.isEmpty else { return }
        let values = Values(attributes: attributes)
        self.topic = try values.text(
            "TOPIC",
            "apns-topic",
            "must be 1 to 255 letters, digits, dots, dashes or underscores"
        ) {
            Topic.isValid($0) ? $0 : nil
        }
        self.pushType = try values.text(
            "PUSH_TYPE",
            "apns-push-type",
            "must be one of \(PushType.allCases.map(\.rawValue).joined(separator: ", "))"
        ) { PushType(rawValue: $0) }
        self.priority = try values.text("PRIORITY", "apns-priority", "must be 1, 5 or 10") {
            UInt8($0).flatMap(Priority.init(rawValue:))
        }
        self.collapseID = try values.text("COLLAPSE_ID", "apns-collapse-id", "must be 1 to 64 bytes of visible ASCII") {
            Contract.collapseIDBytes.contains($0.utf8.count) && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? $0 : nil
        }
        self.channelID = try values.text("CHANNEL_ID", "apns-channel-id", "must be the base64 that Apple gave") {
            ChannelID.isValid($0) ? $0 : nil
        }
        self.expiration = try values.value("apns-expiration", "must be Unix seconds between 1970 and 2200") {
            Int64($0).flatMap { Contract.unixSeconds.contains($0) ? $0 : nil }
        }
        for name in fallsBack && platform.isSandbox ? [platform, platform.production] : [platform]
        where self.timeToLive == nil {
            self.timeToLive = try values.value(
                "AWS.SNS.MOBILE.\(name.rawValue).TTL",
                "must be a whole number of seconds, 0 or more"
            ) { Int64($0).flatMap { $0 >= 0 ? $0 : nil } }
        }
        if attributes["apns-id"] != nil {
            throw Values.invalid("apns-id", "is given by the fleet, one to each push")
        }
        try self.checkChannel()
        self.liveActivity = try values.value(Self.liveActivityName, "must be start, update or end") {
            ["start", "update", "end"].contains($0) ? $0 : nil
        }
        guard self.liveActivity != nil else { return }
        guard self.pushType == nil || self.pushType == .liveactivity else {
            throw Values.invalid(Self.liveActivityName, "goes with push type liveactivity only")
        }
        guard self.priority != .powerFirst else {
            throw Values.invalid(Self.liveActivityName, "requires priority 5 or 10")
        }
        self.pushType = .liveactivity
    }

    /// Apple, "Sending broadcast push notification requests to APNs".
    private func checkChannel() throws(SNSError) {
        guard self.channelID != nil else { return }
        let place = "AWS.SNS.MOBILE.APNS.CHANNEL_ID"
        guard self.pushType == nil || self.pushType == .liveactivity else {
            throw Values.invalid(place, "goes with push type liveactivity only")
        }
        guard self.topic == nil, self.collapseID == nil, self.priority != .powerFirst else {
            throw Values.invalid(place, "goes with neither a topic, a collapse id nor priority 1")
        }
    }
}

/// Finds attributes by name.
private struct Values {
    let attributes: MessageAttributes

    /// The value of `AWS.SNS.MOBILE.APNS.<name>`, or else of the header's own name.
    func text<Value>(
        _ name: String,
        _ header: String,
        _ rule: String,
        _ read: (String) -> Value?
    ) throws(SNSError) -> Value? {
        if let value = try self.value("AWS.SNS.MOBILE.APNS.\(name)", rule, read) { return value }
        return try self.value(header, rule, read)
    }

    func value<Value>(_ name: String, _ rule: String, _ read: (String) -> Value?) throws(SNSError) -> Value? {
        guard let found = self.attributes[name] else { return nil }
        guard case .text(let text) = found.content, let value = read(text) else { throw Self.invalid(name, rule) }
        return value
    }

    static func invalid(_ name: String, _ rule: String) -> SNSError {
        .invalidParameter("MessageAttributes", reason: "Invalid value for attribute: \(name): \(rule)")
    }
}
