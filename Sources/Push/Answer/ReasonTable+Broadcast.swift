extension ReasonTable {
    /// Answers of the broadcast and channel API: those that only it gives, and those that mean something else there.
    /// It shares the other reasons with the device API. Apple, "Handling error responses from APNs".
    static let broadcastRows: [StatusReason] = [
        StatusReason(
            400,
            "FeatureNotEnabled",
            .credential,
            alert: true,
            flags: .topicScoped,
            api: .broadcast,
            meaning: "Broadcast is not enabled for this bundle id.",
            next: "Enable the broadcast capability for the app in the developer account."
        ),
        StatusReason(
            400,
            "BroadcastFeatureNotEnabled",
            .credential,
            alert: true,
            flags: .topicScoped,
            api: .broadcast,
            meaning: "Broadcast is not enabled for this bundle id. A spelling seen in the field.",
            next: "Enable the broadcast capability for the app in the developer account."
        ),
        StatusReason(
            400,
            "MissingChannelId",
            .payload,
            api: .broadcast,
            meaning: "The request had no channel id.",
            next: "Give the channel id that came with the channel's creation."
        ),
        StatusReason(
            400,
            "BadChannelId",
            .payload,
            api: .broadcast,
            meaning: "The channel id is malformed.",
            next: "Use the id exactly as it came with the channel's creation."
        ),
        StatusReason(
            400,
            "ChannelNotRegistered",
            .payload,
            alert: true,
            flags: .channelGone,
            api: .broadcast,
            meaning: "The channel does not exist, or no longer.",
            next: "Create the channel again and hand the new id to the app; channels differ per environment."
        ),
        StatusReason(
            400,
            "CannotCreateChannelConfig",
            .payload,
            alert: true,
            api: .broadcast,
            meaning: "The app has reached its limit of channels (10,000 per environment).",
            next: "Delete channels that are no longer used."
        ),
        StatusReason(
            400,
            "BadRequestParams",
            .payload,
            api: .broadcast,
            meaning: "The request's parameters are invalid.",
            next: "Compare the request with Apple's page on channel management."
        ),
        StatusReason(
            400,
            "BadRequestPayload",
            .payload,
            api: .broadcast,
            meaning: "The request's body is invalid.",
            next: "Compare the body with Apple's page on broadcast pushes."
        ),
        StatusReason(
            400,
            "MissingPushType",
            .payload,
            api: .broadcast,
            meaning: "The request had no push type.",
            next: "Broadcasts need the push type liveactivity."
        ),
        StatusReason(
            400,
            "BadExpirationDate",
            .payload,
            api: .broadcast,
            meaning: "The expiration is no valid number, or not 0 for a channel that stores nothing.",
            next: "Publish with expires_at 0 to a channel without storage; `channel show` tells a channel's policy."
        ),
        StatusReason(
            400,
            "BadMessageId",
            .payload,
            alert: true,
            flags: .senderBug,
            api: .broadcast,
            meaning: "The apns-request-id is not a UUID. This fleet makes the id itself.",
            next: "Report it as a bug of this fleet, with the message id."
        ),
        StatusReason(
            400,
            "BadPriority",
            .payload,
            api: .broadcast,
            meaning: "The priority is not allowed for a broadcast.",
            next: "Leave priority out, or use 5 or 10."
        ),
        StatusReason(
            400,
            "InvalidPushType",
            .payload,
            api: .broadcast,
            meaning: "The push type is not liveactivity.",
            next: "Leave push_type out: a message to a channel has only one."
        ),
        StatusReason(
            400,
            "TopicDisallowed",
            .credential,
            .retire,
            alert: true,
            flags: [.retryOnce, .topicScoped],
            api: .broadcast,
            meaning: "This credential may not broadcast for this bundle id, or the bundle id has a topic's suffix.",
            next: "Check that bundle_id is the plain bundle id and belongs to the key's team. Its broadcasts "
                + "wait."
        ),
        StatusReason(
            404,
            "BadPath",
            .payload,
            alert: true,
            api: .broadcast,
            meaning: "The request path is wrong; for a deletion it may also mean that there is no such channel.",
            next: "Check bundle_id and the host: broadcasts and channel management have different ones."
        ),
        StatusReason(
            405,
            "MethodNotAllowed",
            .payload,
            alert: true,
            flags: .senderBug,
            api: .broadcast,
            meaning: "The request method does not fit the path.",
            next: "Look for a proxy that changes requests. Otherwise report a bug of this fleet."
        ),
        StatusReason(
            413,
            "PayloadTooLarge",
            .payload,
            api: .broadcast,
            meaning: "The payload is over the limit of broadcasts: 5120 bytes.",
            next: "Shorten the payload, or send an id and let the app fetch the rest."
        ),
        StatusReason(
            429,
            "TooManyRequests",
            .backoff,
            alert: true,
            floor: .seconds(60),
            api: .broadcast,
            meaning: "Too many requests for this channel or this app's channels.",
            next:
                "It is retried with backoff. Publish less often, or use a channel without storage: its rate is higher."
        ),
        StatusReason(
            403,
            "TopicMismatch",
            .credential,
            .retire,
            alert: true,
            flags: .topicScoped,
            api: .broadcast,
            meaning: "The certificate's topic is not the bundle id of the request.",
            next: "Use the certificate of this app."
        ),
    ]
}
