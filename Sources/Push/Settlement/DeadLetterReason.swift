/// Why a message went to the dead-letter queue: the value of its reason header and the name of a counter.
///
/// The set is closed and the names are stable; counters use them as fields. APNs' own reason travels beside it.
package enum DeadLetterReason: String, CaseIterable, Sendable {
    case invalidJSON = "invalid_json"
    case invalidUTF8 = "invalid_utf8"
    case notAnObject = "not_an_object"
    case tooLarge = "too_large"
    case unsupportedVersion = "unsupported_version"
    case unknownApp = "unknown_app"
    case appMismatch = "app_mismatch"
    case missingField = "missing_field"
    case unknownField = "unknown_field"
    case duplicateField = "duplicate_field"
    case invalidField = "invalid_field"
    case payloadTooLarge = "payload_too_large"
    case payloadLint = "payload_lint"
    case invalidProperties = "invalid_properties"
    case expired
    case holdLimit = "hold_limit"
    case ageLimit = "age_limit"
    case retryLimit = "retry_limit"
    case apnsRejected = "apns_rejected"
    case suspectToken = "suspect_token"
    case channelGone = "channel_gone"
    case deliveryLimit = "delivery_limit"
    case unroutableLane = "unroutable_lane"

    /// The contract field that the reason speaks of, where it is always the same one.
    package var field: String? {
        switch self {
        case .unknownApp, .appMismatch: EnvelopeField.app.rawValue
        case .unsupportedVersion: EnvelopeField.version.rawValue
        case .payloadTooLarge: EnvelopeField.payload.rawValue
        case .expired: EnvelopeField.expiresAt.rawValue
        case .holdLimit: EnvelopeField.notBefore.rawValue
        case .suspectToken: EnvelopeField.tokens.rawValue
        case .channelGone: EnvelopeField.channel.rawValue
        default: nil
        }
    }

    /// What happened, as one sentence.
    package var meaning: String {
        switch self {
        case .invalidJSON: "The body is not valid JSON."
        case .invalidUTF8: "The body holds bytes that are not UTF-8."
        case .notAnObject: "The body is JSON, but not an object."
        case .tooLarge: "The body is larger than 256 KiB."
        case .unsupportedVersion: "The body's \"version\" is one that this fleet does not know."
        case .unknownApp: "The message names an \"app\" that is not configured."
        case .appMismatch: "The message's \"app\" is not the app of the queue it came through."
        case .missingField: "A required field of the body is missing."
        case .unknownField: "The body has a key that the contract does not know."
        case .duplicateField: "A key stands in the body more than once."
        case .invalidField: "A field of the body has a value that the contract does not allow."
        case .payloadTooLarge: "\"payload\" has more than 4096 bytes, or 5120 for voip and channels, counted as UTF-8."
        case .payloadLint: "The app has lint: strict, and the payload holds what Apple would not understand."
        case .invalidProperties: "The message's AMQP properties or headers cannot be used."
        case .expired: "The message's \"expires_at\" passed before Apple accepted it."
        case .holdLimit: "\"not_before\" lies further ahead than messages are held."
        case .ageLimit: "The message grew older than the app's age_limit, or its next attempt would have."
        case .retryLimit: "The message used up the app's retry_limit."
        case .apnsRejected: "Apple rejected the request for good; the APNs reason stands beside this one."
        case .suspectToken: "Token and environment or topic do not belong together; the token may be fine elsewhere."
        case .channelGone: "Apple does not know the \"channel\": it was deleted, or belongs to the other environment."
        case .deliveryLimit: "The broker handed the message out too often without an answer: it may crash workers."
        case .unroutableLane: "The message came by a routing key that is not <app>.now or <app>.bulk."
        }
    }

    /// What to do about it, as one or two sentences.
    package var nextStep: String {
        switch self {
        case .invalidJSON, .notAnObject:
            "Have the publisher build the body with a JSON library; the detail says at which byte it fails."
        case .invalidUTF8: "Encode the body as UTF-8 before publishing; do not cut strings at a byte count."
        case .tooLarge: "Split the tokens over several messages."
        case .unsupportedVersion:
            "Publish \"version\": 1, or leave it out; update the workers if it is a newer contract."
        case .unknownApp: "Correct the name, or add the app to the configuration, then replay."
        case .appMismatch: "Publish with the routing key <app>.<lane> of the app that the body names."
        case .missingField, .unknownField, .duplicateField, .invalidField:
            "The detail names the field and the fix. Validate against the JSON Schema before publishing."
        case .payloadTooLarge:
            "Shorten the texts or send an id and let the app fetch the rest; or set fit: truncate for the app."
        case .payloadLint:
            "The detail names the key and the fix. Try payloads with `pushfleet lint` before publishing."
        case .invalidProperties: "The detail names the property. Set message_id and timestamp as documented."
        case .expired: "Nothing, if the push lost its worth. Otherwise look for a backlog, or allow more time."
        case .holdLimit: "Publish nearer to the time; a scheduler is the better place for the far future."
        case .ageLimit: "Look for an outage or a paused credential in that time, then replay what is still of use."
        case .retryLimit: "Look at the APNs reason of the last attempt; replay once the cause is gone."
        case .apnsRejected: "Ask `explain` about the APNs reason; correct the request before replaying."
        case .suspectToken: "Check that the app's environment and topic fit its tokens before removing any token."
        case .channelGone: "Look with `channel list`; create another and hand its id to the app and to publishers."
        case .deliveryLimit: "Keep a copy, look at the workers' logs for a crash, and replay a single message first."
        case .unroutableLane: "Correct the routing key, or the binding that let it in."
        }
    }
}
