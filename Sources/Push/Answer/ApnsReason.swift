/// The `reason` text of an APNs answer.
///
/// Known ones have names below; unknown ones are kept as text, so that they can be shown, but count as `unknown`.
package struct ApnsReason: Hashable, Sendable, CustomStringConvertible {
    package static let textLimit = 64

    /// Letters, digits, spaces, dots, dashes and underscores only.
    package let text: String

    /// Nil if the text is empty, longer than 64 bytes or holds anything but the characters above.
    package init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty, bytes.count <= Self.textLimit,
            bytes.allSatisfy({ Topic.allows($0) || $0 == 0x20 })
        else { return nil }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    private init(known text: String) { self.text = text }

    package var description: String { self.text }

    /// The name under which counters count it: its own if the table knows it, else `unknown`. Bounded.
    package var counterName: String { ReasonTable.row(named: self.text)?.reason ?? "unknown" }

    package static let badDeviceToken = Self(known: "BadDeviceToken")
    package static let deviceTokenNotForTopic = Self(known: "DeviceTokenNotForTopic")
    package static let expiredProviderToken = Self(known: "ExpiredProviderToken")
    package static let expiredToken = Self(known: "ExpiredToken")
    package static let idleTimeout = Self(known: "IdleTimeout")
    package static let internalServerError = Self(known: "InternalServerError")
    package static let invalidProviderToken = Self(known: "InvalidProviderToken")
    package static let payloadTooLarge = Self(known: "PayloadTooLarge")
    package static let serviceUnavailable = Self(known: "ServiceUnavailable")
    package static let shutdown = Self(known: "Shutdown")
    package static let tooManyProviderTokenUpdates = Self(known: "TooManyProviderTokenUpdates")
    package static let tooManyRequests = Self(known: "TooManyRequests")
    package static let topicDisallowed = Self(known: "TopicDisallowed")
    package static let unregistered = Self(known: "Unregistered")
}
