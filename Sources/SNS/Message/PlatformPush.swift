package import Push

/// What devices of one platform get of a message: a payload with its headers, checked.
package struct PlatformPush: Equatable, Sendable {
    package let pushType: PushType
    package let attributes: PushAttributes

    /// A JSON object; from the platform's own text byte for byte.
    package let payload: [UInt8]

    /// Amazon's time to live where none is given: four weeks, in seconds.
    package static let defaultTimeToLive: Int64 = 28 * 86_400

    /// - Parameters:
    ///   - fallsBack: whether a sandbox takes the text of production where it has no text of its own.
    /// - Throws: `InvalidParameter` for a message without a text for the platform, and for a payload that is no JSON object or too
    ///   long.
    package init(
        _ body: MessageBody,
        _ attributes: PushAttributes,
        platform: Platform,
        fallsBack: Bool = false
    ) throws(SNSError) {
        guard let (text, isPayload) = body.text(for: platform, fallsBack: fallsBack) else {
            throw .invalidParameter("JSON must contain an entry for 'default' or '\(platform.rawValue)'.")
        }
        self.payload = isPayload ? Array(text.utf8) : Self.wrapped(text)
        let found = try self.payload.withUnsafeBufferPointer { (bytes) throws(SNSError) in
            guard let found = ApsKeys(UnsafeRawBufferPointer(bytes)) else {
                throw .invalidNotification(platform, "Notification is malformed")
            }
            return found
        }
        let type =
            attributes.pushType ?? (attributes.channelID == nil ? Self.inferred(found, platform) : .liveactivity)
        let limit = attributes.channelID == nil ? type.rules.payloadLimit : PushTypeRules.broadcastPayloadLimit
        guard self.payload.count <= limit else { throw .invalidNotification(platform, "Notification is too long") }
        if let priority = attributes.priority, type.rules.refusedPriorities.contains(priority) {
            throw .invalidParameter(
                "MessageAttributes",
                reason: "Invalid value for attribute: AWS.SNS.MOBILE.APNS.PRIORITY: \(type.rawValue) requires 5"
            )
        }
        self.pushType = type
        self.attributes = attributes
        if let event = attributes.liveActivity {
            try self.check(event, found, isBroadcast: attributes.channelID != nil)
        }
    }

    /// Apple drops in silence what does not fit. Source: "Starting and updating Live Activities with ActivityKit push
    /// notifications".
    private func check(_ event: String, _ found: ApsKeys, isBroadcast: Bool) throws(SNSError) {
        let findings = self.payload.withUnsafeBytes {
            PayloadLint.findings(in: $0, type: .liveactivity, isBroadcast: isBroadcast)
        }
        if let finding = findings.first {
            throw .invalidParameter("Message", reason: "Invalid Live Activity: \(finding.path): \(finding.detail)")
        }
        guard found.event == event else {
            throw .invalidParameter(
                "Message",
                reason: "Invalid Live Activity: payload.aps.event: is \(found.event ?? "missing"), but "
                    + "\(PushAttributes.liveActivityName) is \(event)"
            )
        }
    }

    /// A text as the alert that it becomes.
    private static func wrapped(_ text: String) -> [UInt8] {
        var payload = Array("{\"aps\":{\"alert\":".utf8)
        JSONText.append(text, to: &payload)
        payload += "}}".utf8
        return payload
    }

    /// Amazon knows apart what is shown and what is not; the rest is the platform's.
    private static func inferred(_ found: ApsKeys, _ platform: Platform) -> PushType {
        switch platform.production {
        case .voip: .voip
        case .mdm: .mdm
        default: found.isBackground ? .background : .alert
        }
    }

    /// The time that `apns-expiration` gets, in Unix seconds.
    package func expiration(now: UnixTime) -> Int64 {
        if let expiration = self.attributes.expiration { return expiration }
        // Without a time to live a channel that stores nothing takes 0 only.
        let seconds = self.attributes.timeToLive ?? (self.attributes.channelID == nil ? Self.defaultTimeToLive : 0)
        guard seconds > 0 else { return 0 }
        let (sum, overflow) = now.seconds.addingReportingOverflow(seconds)
        return overflow ? Contract.unixSeconds.upperBound : min(sum, Contract.unixSeconds.upperBound)
    }

    /// The body of a message to the fleet's workers, in version 1 of the contract.
    ///
    /// - Parameters:
    ///   - tokens: of devices; nobody's for a push to a channel.
    ///   - notBefore: nil to send at once.
    ///   - wantsReceipt: whether the answers are published.
    package func envelope(
        app: AppID,
        tokens: [String],
        now: UnixTime,
        notBefore: UnixTime? = nil,
        wantsReceipt: Bool = false
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.payload.count + 300 + tokens.count * 72)
        bytes += "{\"app\":".utf8
        JSONText.append(app.name, to: &bytes)
        if let channel = self.attributes.channelID {
            Self.member("channel", channel, to: &bytes)
        } else {
            bytes += ",\"tokens\":[".utf8
            for (index, token) in tokens.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONText.append(token, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        }
        Self.member("push_type", self.pushType.rawValue, to: &bytes)
        if let priority = self.attributes.priority { Self.member("priority", Int64(priority.rawValue), to: &bytes) }
        if let id = self.attributes.collapseID { Self.member("collapse_id", id, to: &bytes) }
        if let topic = self.attributes.topic { Self.member("topic", topic, to: &bytes) }
        Self.member("expires_at", self.expiration(now: now), to: &bytes)
        if let notBefore { Self.member("not_before", notBefore.seconds, to: &bytes) }
        if wantsReceipt { bytes += ",\"receipt\":true".utf8 }
        bytes += ",\"payload\":".utf8
        bytes += self.payload
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private static func member(_ name: StaticString, _ value: String, to bytes: inout [UInt8]) {
        bytes += ",\"\(name)\":".utf8
        JSONText.append(value, to: &bytes)
    }

    private static func member(_ name: StaticString, _ value: Int64, to bytes: inout [UInt8]) {
        bytes += ",\"\(name)\":\(value)".utf8
    }
}

extension SNSError {
    fileprivate static func invalidNotification(_ platform: Platform, _ text: String) -> Self {
        Self.invalidParameter(
            "Message",
            reason: "Invalid notification for protocol \(platform.rawValue): \(text)"
        )
    }
}

/// What stands in a payload's `aps`, as far as the push type hangs on it.
private struct ApsKeys {
    private var isShown = false
    private var isContentAvailable = false
    /// Of a Live Activity.
    private(set) var event: String?

    /// Nil for what is no JSON object.
    init?(_ payload: UnsafeRawBufferPointer) {
        var scanner = JSONScanner(payload)
        do throws(JSONFault) {
            try scanner.start()
            guard scanner.opensObject == true else { return nil }
            var aps: JSONValue?
            try Self.members(&scanner) { (key, scanner) throws(JSONFault) in
                let value = try scanner.value()
                if scanner.isName(key, "aps") { aps = value }
            }
            try scanner.finish()
            guard let aps, aps.kind == .object else { return }
            scanner.position = aps.range.lowerBound
            var found = (isShown: false, isContentAvailable: false, event: String?.none)
            try Self.members(&scanner) { (key, scanner) throws(JSONFault) in
                let value = try scanner.value()
                if scanner.isName(key, "alert") || scanner.isName(key, "badge") || scanner.isName(key, "sound") {
                    found.isShown = true
                } else if scanner.isName(key, "content-available") {
                    found.isContentAvailable =
                        value.kind == .number
                        ? scanner.integer(value.range) == 1
                        : value.kind == .bool && scanner.equals(value.range, "true")
                } else if scanner.isName(key, "event"), value.kind == .string {
                    for (name, text) in Self.events where scanner.isName(value, name) { found.event = text }
                }
            }
            self.isShown = found.isShown
            self.isContentAvailable = found.isContentAvailable
            self.event = found.event
        } catch {
            return nil
        }
    }

    private static let events: [(StaticString, String)] = [("start", "start"), ("update", "update"), ("end", "end")]

    var isBackground: Bool { self.isContentAvailable && !self.isShown }

    private static func members(
        _ scanner: inout JSONScanner,
        _ read: (JSONValue, inout JSONScanner) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try scanner.openObject()
        var isFirst = true
        while let key = try scanner.nextKey(first: isFirst) {
            isFirst = false
            try read(key, &scanner)
        }
    }
}
