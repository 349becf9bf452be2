/// The limits of contract version 1, the JSON body that backends publish.
///
/// Every number here also stands in the shipped JSON Schema; tests hold the two together.
package enum Contract {
    /// The only version there is. A body without `version` means this one.
    package static let version = 1

    /// Bytes of a whole body: a thousand long tokens and a full payload fit.
    package static let bodyLimit = 256 * 1024

    /// Tokens in one message.
    package static let tokenLimit = 1000

    /// Hexadecimal digits in one token; always an even number. Apple calls the length variable and promises none; Amazon
    /// SNS takes as many.
    package static let tokenDigits = 2...400

    /// Bytes of `collapse_id`, all of them visible ASCII (`apns-collapse-id` is a header).
    package static let collapseIDBytes = 1...64

    /// Bytes of `channel`. Apple gives the id and promises no length.
    package static let channelBytes = 1...256

    /// Room for the text of whatever a push is addressed to, and for a path in front of it.
    package static let addressBuffer = 512

    /// Bytes of `topic`.
    package static let topicBytes = 1...255

    /// Bytes of `app`.
    package static let appBytes = 1...128

    /// Unix seconds that `expires_at` and `not_before` may hold: 1970 to the end of 2200.
    package static let unixSeconds: ClosedRange<Int64> = 0...7_289_654_399

    /// Bytes of `payload` for every push type but voip. Apple, "Sending notification requests to APNs".
    package static let payloadLimit = 4096

    /// Bytes of `payload` for voip.
    package static let voipPayloadLimit = 5120

    /// Bytes of `payload` for a channel. Apple, "Sending broadcast push notification requests to APNs".
    package static let broadcastPayloadLimit = 5120

    /// The limit of `payload` for one push type.
    package static func payloadLimit(for type: PushType) -> Int {
        type.rules.payloadLimit
    }
}
