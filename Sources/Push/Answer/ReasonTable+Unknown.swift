extension ReasonTable {
    /// Statuses that say enough without a reason, when it is unknown or the body is unreadable.
    ///
    /// A token is never called dead without one of the two reasons that say so.
    static let statusRows: [StatusReason] = [
        StatusReason(
            403,
            "",
            .credential,
            .retire,
            alert: true,
            meaning: "Refused with 403 and a reason this fleet does not know. All known ones speak of the credential.",
            next: "Check the credential; look the reason up in Apple's table. The lane is paused, its messages wait."
        ),
        StatusReason(
            410,
            "",
            .context,
            alert: true,
            meaning: "Status 410 without a known reason: the token may be dead, but it is not reported as such.",
            next: "Look at the reason text; a proxy may have answered. Do not remove tokens on this alone."
        ),
        StatusReason(
            413,
            "",
            .payload,
            meaning: "Status 413 without a known reason: the payload is over the limit.",
            next: "Shorten the payload."
        ),
        StatusReason(
            429,
            "",
            .backoff,
            alert: true,
            floor: .seconds(60),
            meaning: "Status 429 without a known reason: too many requests of some kind.",
            next: "It is retried with backoff. Look the reason up in Apple's table."
        ),
    ]

    static let unknown4xx = StatusReason(
        0,
        "Unknown4xx",
        .payload,
        alert: true,
        meaning: "A 4xx answer that is in no table. The message is dead-lettered, the token left alone.",
        next: "Look the reason up in Apple's table; replay once it is understood."
    )

    static let unknown5xx = StatusReason(
        0,
        "Unknown5xx",
        .backoff,
        meaning: "A 5xx answer that is in no table. It is retried with backoff.",
        next: "If it lasts, see Apple's system status page, and any proxy in between."
    )

    static let unknownSuccess = StatusReason(
        0,
        "Unknown2xx",
        .ok,
        alert: true,
        meaning: "A 2xx answer other than 200. It is taken as accepted.",
        next: "Look for a proxy in between; APNs answers 200."
    )

    static let unknownOther = StatusReason(
        0,
        "UnknownStatus",
        .backoff,
        .retire,
        alert: true,
        meaning: "A status that is neither 200, 4xx nor 5xx: APNs does not send one, so something in between answered.",
        next: "Check the endpoint's host and port, and any proxy in between."
    )

    static let unknownRows = [Self.unknown4xx, Self.unknown5xx, Self.unknownSuccess, Self.unknownOther]
}
