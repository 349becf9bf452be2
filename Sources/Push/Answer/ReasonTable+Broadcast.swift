extension ReasonTable {
    /// Answers that only the broadcast and channel API gives; it shares the other reasons with the device API.
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
