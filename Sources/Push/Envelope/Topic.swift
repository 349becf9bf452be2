/// The `apns-topic` header.
package enum Topic {
    /// The topic for a push of this type to the app with this bundle id.
    ///
    /// An explicit `topic` of a message goes before it. For `mdm` the topic is the user id of the MDM push
    /// certificate's subject and has nothing to do with a bundle: configure that as the app's bundle id, it is used
    /// as it is. Apple, "Sending notification requests to APNs", and the ActivityKit and WidgetKit pages.
    package static func derive(bundleID: String, pushType: PushType) -> String {
        bundleID + pushType.rules.topicSuffix
    }

    /// Whether the bytes may stand in the header: `^[A-Za-z0-9.\-_]{1,255}$`.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        Contract.topicBytes.contains(bytes.count) && bytes.allSatisfy(Self.allows)
    }

    /// Whether `text` may stand in the header; for configuration.
    package static func isValid(_ text: String) -> Bool {
        Contract.topicBytes.contains(text.utf8.count) && text.utf8.allSatisfy(Self.allows)
    }

    @inline(__always)
    static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
