extension ReasonTable {
    /// Answers to `POST /3/device/<token>`.
    static let deviceRows: [StatusReason] = [
        StatusReason(
            400,
            "BadCollapseId",
            .payload,
            meaning: "The collapse id has more than 64 bytes.",
            next: "Shorten collapse_id; hash long keys. Replay after the publisher is corrected."
        ),
        StatusReason(
            400,
            "BadDeviceToken",
            .context,
            meaning: "The token is malformed, or it belongs to the other environment (sandbox or production).",
            next: "Check that the app's environment fits its builds: development builds have sandbox tokens. Remove a "
                + "token only when other tokens of the same app and environment are accepted."
        ),
        StatusReason(
            400,
            "BadExpirationDate",
            .payload,
            meaning: "The expiration is not a valid number.",
            next: "Check expires_at: Unix seconds, not milliseconds."
        ),
        StatusReason(
            400,
            "BadMessageId",
            .payload,
            alert: true,
            flags: .senderBug,
            meaning: "The apns-id is not a UUID. This fleet makes the id itself.",
            next: "Report it as a bug of this fleet, with the message id."
        ),
        StatusReason(
            400,
            "BadPriority",
            .payload,
            meaning: "The priority is not allowed, for example 10 with a background push.",
            next: "Leave priority out, or use 5 for background, 10 or 5 for the other types."
        ),
        StatusReason(
            400,
            "BadTopic",
            .payload,
            alert: true,
            meaning: "The topic is malformed or invalid.",
            next: "Check the app's bundle id in the configuration and the message's topic, if it sets one."
        ),
        StatusReason(
            400,
            "DeviceTokenNotForTopic",
            .context,
            meaning: "The token exists, but for another topic than the one it was sent with.",
            next: "Check bundle id and push_type: voip, location and Live Activity tokens differ from the alert token. "
                + "Look whether tokens of two apps are mixed up."
        ),
        StatusReason(
            400,
            "DuplicateHeaders",
            .payload,
            alert: true,
            flags: .senderBug,
            meaning: "A request header stood there twice.",
            next: "Report it as a bug of this fleet; look for a proxy that adds headers."
        ),
        StatusReason(
            400,
            "IdleTimeout",
            .backoff,
            .retire,
            uncounted: true,
            meaning: "Apple closed the connection because it was idle too long. The request was not processed.",
            next: "Nothing: the message goes out again on a new connection."
        ),
        StatusReason(
            400,
            "InvalidPushType",
            .payload,
            meaning: "The push type is not valid, or does not fit the topic.",
            next: "Check push_type, and leave topic out so that it is derived."
        ),
        StatusReason(
            400,
            "MissingDeviceToken",
            .payload,
            alert: true,
            flags: .senderBug,
            meaning: "The request path held no token.",
            next: "Report it as a bug of this fleet; look for a proxy that rewrites paths."
        ),
        StatusReason(
            400,
            "MissingTopic",
            .payload,
            alert: true,
            flags: .senderBug,
            meaning: "The request had no topic, and the credential does not imply one.",
            next: "Check the app's bundle id in the configuration."
        ),
        StatusReason(
            400,
            "PayloadEmpty",
            .payload,
            meaning: "The request had no body.",
            next: "Give a payload with an aps dictionary."
        ),
        StatusReason(
            400,
            "TopicDisallowed",
            .credential,
            .retire,
            alert: true,
            flags: [.retryOnce, .topicScoped],
            meaning:
                "This credential may not push to this topic. A connection opened before the app was added says "
                + "so as well.",
            next: "Check that key and bundle id belong to the same team, that a topic-bound key covers the bundle id, "
                + "and that a certificate lists the topic. The lane is paused, its messages wait."
        ),
        StatusReason(
            403,
            "BadCertificate",
            .credential,
            .retire,
            alert: true,
            meaning: "The client certificate is invalid, expired or revoked.",
            next: "Install a current certificate and reload. The lane is paused, its messages wait."
        ),
        StatusReason(
            403,
            "BadCertificateEnvironment",
            .credential,
            .retire,
            alert: true,
            meaning: "The client certificate is for the other environment.",
            next: "Give the app the certificate of its environment, or change its environment."
        ),
        StatusReason(
            403,
            "ExpiredProviderToken",
            .credential,
            .retire,
            alert: true,
            flags: [.refreshToken, .retryOnce],
            meaning:
                "The provider token is more than an hour old, or a clock is wrong. The connection does not "
                + "recover from it.",
            next: "One is minted anew at once. If it comes back, check the clock of the machine that mints (`doctor`)."
        ),
        StatusReason(
            403,
            "Forbidden",
            .payload,
            .retire,
            alert: true,
            flags: .pauseLane,
            meaning: "Apple forbids the request and asks not to repeat it; what leads to it is not documented.",
            next: "Look at the developer account: agreements, membership, the key's state. The lane is paused; the "
                + "message is in the dead-letter queue for replay."
        ),
        StatusReason(
            403,
            "InvalidProviderToken",
            .credential,
            .retire,
            alert: true,
            flags: .retryOnce,
            meaning:
                "The provider token is malformed, wrongly signed, of an unknown key or team, or of another team "
                + "than the "
                + "connection's first one.",
            next: "Check key id, team id and the .p8 file against the developer account; see whether the key was "
                + "revoked. Short outbreaks on Apple's side have been seen to heal by themselves."
        ),
        StatusReason(
            403,
            "MissingProviderToken",
            .credential,
            alert: true,
            flags: .senderBug,
            meaning: "The request had neither a client certificate nor a provider token.",
            next: "Check the app's credential in the configuration; look for a proxy that strips headers."
        ),
        StatusReason(
            403,
            "UnrelatedKeyIdInToken",
            .credential,
            .retire,
            alert: true,
            flags: .retryOnce,
            meaning: "The provider token's key is not related to the first key used on this connection.",
            next: "If it comes back on new connections, check that the key belongs to the app's team."
        ),
        StatusReason(
            403,
            "BadEnvironmentKeyInToken",
            .credential,
            .retire,
            alert: true,
            meaning: "The signing key is for the other environment. This spelling is seen on the wire.",
            next: "Use a key that covers the app's environment, or change the app's environment."
        ),
        StatusReason(
            403,
            "BadEnvironmentKeyIdInToken",
            .credential,
            .retire,
            alert: true,
            meaning: "The signing key is for the other environment. This spelling is the documentation's.",
            next: "Use a key that covers the app's environment, or change the app's environment."
        ),
        StatusReason(
            404,
            "BadPath",
            .payload,
            alert: true,
            flags: .senderBug,
            meaning: "The request path is wrong.",
            next:
                "Check the app's endpoint; look for a proxy that rewrites paths. Otherwise report a bug of this fleet."
        ),
        StatusReason(
            405,
            "MethodNotAllowed",
            .payload,
            alert: true,
            flags: .senderBug,
            meaning: "The request method was not POST.",
            next: "Look for a proxy that changes requests. Otherwise report a bug of this fleet."
        ),
        StatusReason(
            410,
            "ExpiredToken",
            .token,
            meaning: "The device token has expired.",
            next: "Remove the token unless the app registered it again after the feedback's timestamp."
        ),
        StatusReason(
            410,
            "Unregistered",
            .token,
            meaning:
                "The token is no longer active for the topic: the app was removed, or the token replaced. Apple "
                + "reports it "
                + "late on purpose.",
            next: "Remove the token unless the app registered it again after the feedback's timestamp."
        ),
        StatusReason(
            413,
            "PayloadTooLarge",
            .payload,
            meaning: "The payload is over the limit: 4096 bytes, 5120 for voip.",
            next: "Shorten the payload, or send an id and let the app fetch the rest."
        ),
        StatusReason(
            429,
            "TooManyProviderTokenUpdates",
            .backoff,
            .retire,
            uncounted: true,
            alert: true,
            flags: .holdToken,
            floor: .seconds(60),
            meaning:
                "The provider token was changed more than once in 20 minutes. A connection may stay in this "
                + "state for more "
                + "than an hour.",
            next: "Look for something else that mints tokens with the same key. Nothing is minted meanwhile."
        ),
        StatusReason(
            429,
            "TooManyRequests",
            .backoff,
            flags: .sameTokenOnly,
            floor: .seconds(60),
            meaning: "Too many requests in a row went to this one device token.",
            next: "Look for a publisher in a loop; let a newer push replace an older one with collapse_id."
        ),
        StatusReason(
            500,
            "InternalServerError",
            .backoff,
            .retire,
            meaning: "A fault at Apple, or a stale connection.",
            next: "Nothing at first: it is retried on a new connection. If it lasts, see Apple's system status page."
        ),
        StatusReason(
            503,
            "ServiceUnavailable",
            .backoff,
            .retire,
            meaning: "Apple's server is overloaded or unavailable.",
            next: "Nothing at first: it is retried with backoff. If it lasts, see Apple's system status page."
        ),
        StatusReason(
            503,
            "Shutdown",
            .backoff,
            .retire,
            uncounted: true,
            meaning: "This server of Apple's is going away. The request was not processed.",
            next: "Nothing: the message goes out again on a new connection."
        ),
    ]
}
