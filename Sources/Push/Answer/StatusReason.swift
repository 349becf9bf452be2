/// One row of the table of APNs answers: what a status with a reason means and what to do about it.
package struct StatusReason: Equatable, Sendable {
    /// What becomes of the message, before flags.
    package enum Disposition: String, CaseIterable, Sendable {
        /// Accepted.
        case ok
        /// The request can never succeed: dead-letter, leave the token alone.
        case payload
        /// The token is dead: tell its owner.
        case token
        /// Token and environment or topic do not fit: dead-letter as suspect, delete nothing.
        case context
        /// The credential or configuration is at fault: pause the lane, give the message back.
        case credential
        /// Later.
        case backoff
    }

    /// What to do with the connection the answer came on.
    package enum ConnectionFate: String, Sendable {
        case keep
        /// Open no more streams on it.
        case retire
    }

    /// Which API gives the answer.
    package enum API: String, Sendable {
        case device
        /// Channel management and broadcast sends.
        case broadcast
    }

    /// What else the answer asks for.
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Mint a new provider token before the next request.
        package static let refreshToken = Self(rawValue: 1)
        /// Do not mint: the present token has to last.
        package static let holdToken = Self(rawValue: 2)
        /// Try once more on a new connection before believing it.
        package static let retryOnce = Self(rawValue: 4)
        /// Pause the credential although this message is settled otherwise.
        package static let pauseLane = Self(rawValue: 8)
        /// The fault lies with credential and topic together; other topics of the credential may go on.
        package static let topicScoped = Self(rawValue: 16)
        /// Concerns this device token only; never slow the lane for it.
        package static let sameTokenOnly = Self(rawValue: 32)
        /// Our own request was wrong: a bug of the sender.
        package static let senderBug = Self(rawValue: 64)
        /// The channel is dead: dead-letter, and tell its owner.
        package static let channelGone = Self(rawValue: 2048)
    }

    /// The HTTP status; 0 in the rows for anything unknown.
    package let status: Int

    /// The reason as Apple writes it; empty where the status alone decides.
    package let reason: String

    package let disposition: Disposition
    package let connection: ConnectionFate

    /// Whether the try counts as an attempt.
    package let countsAttempt: Bool

    /// Whether someone should be told.
    package let alert: Bool

    package let flags: Flags

    /// The least delay before another try.
    package let delayFloor: Duration?

    package let api: API

    /// What happened, in one or two sentences.
    package let meaning: String

    /// What to do about it, for whoever is on call.
    package let nextStep: String

    init(
        _ status: Int,
        _ reason: String,
        _ disposition: Disposition,
        _ connection: ConnectionFate = .keep,
        uncounted: Bool = false,
        alert: Bool = false,
        flags: Flags = [],
        floor: Duration? = nil,
        api: API = .device,
        meaning: String,
        next nextStep: String
    ) {
        self.status = status
        self.reason = reason
        self.disposition = disposition
        self.connection = connection
        self.countsAttempt = !uncounted
        self.alert = alert
        self.flags = flags
        self.delayFloor = floor
        self.api = api
        self.meaning = meaning
        self.nextStep = nextStep
    }
}
