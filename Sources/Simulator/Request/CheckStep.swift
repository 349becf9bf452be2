/// One thing that is looked at in a request. Their order here is the usual one; Apple's is not documented.
package enum CheckStep: String, CaseIterable, Sendable {
    /// 405 `MethodNotAllowed`.
    case method
    /// 404 `BadPath`, 400 `MissingDeviceToken`.
    case path
    /// 400 `DuplicateHeaders`.
    case duplicates
    /// The provider token: 403, 429 `TooManyProviderTokenUpdates`.
    case authorization
    /// `apns-id`, `apns-expiration`, `apns-priority`, `apns-collapse-id`.
    case headers
    /// 400 `MissingTopic`, `BadTopic`, `TopicDisallowed`.
    case topic
    /// 400 `InvalidPushType`, and `BadPriority` for a background push with priority 10.
    case pushType = "push_type"
    /// Whether the device token can be one: 400 `BadDeviceToken`.
    case token
    /// 400 `PayloadEmpty`, 413 `PayloadTooLarge`.
    case body
    /// What is known of the device token: 400, 410, 429 `TooManyRequests`.
    case tokenState = "token_state"
}
