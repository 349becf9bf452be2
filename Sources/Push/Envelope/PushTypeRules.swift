/// What Apple asks of one push type. The one place for it: the decoder, the topic, the lint and `doctor` go by this.
///
/// Apple, "Sending notification requests to APNs"; for Live Activities the ActivityKit page, for widgets and controls
/// the WidgetKit page, for location the Core Location page on push extensions.
package struct PushTypeRules: Sendable {
    /// What the topic adds to the bundle id.
    package var topicSuffix: String { self.suffix.description }

    // Nothing here is counted by reference, so that looking up a rule costs the decoder next to nothing.
    private let suffix: StaticString

    /// The `apns-priority` of a message that names none.
    package let defaultPriority: Priority

    /// The priorities that Apple's pages name for the type.
    package let priorities: Priorities

    /// Priorities that Apple's page calls an error. Others outside ``priorities`` are Apple's to judge.
    package let refusedPriorities: Priorities

    /// Whether a push is worth nothing later, so that its `expires_at` should be 0 or a few seconds away. Advice only:
    /// Apple sets no limit.
    package let expiresSoon: Bool

    /// Bytes that the payload may have.
    package let payloadLimit: Int

    /// What the connection must be authorised with.
    package let credentials: Credentials

    /// What must stand in the payload beside the sender's own keys.
    package let aps: Aps

    /// Bytes of the payload of a broadcast, whatever its type. Apple, "Sending broadcast push notification requests".
    package static let broadcastPayloadLimit = 5120

    /// A set of ``Priority``.
    package struct Priorities: OptionSet, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let none: Self = []
        package static let powerFirst = Self(.powerFirst)
        package static let considerate = Self(.considerate)
        package static let immediate = Self(.immediate)
        package static let any: Self = [.powerFirst, .considerate, .immediate]

        private init(_ priority: Priority) { self.rawValue = 1 << UInt16(priority.rawValue) }

        package func contains(_ priority: Priority) -> Bool { self.contains(Self(priority)) }

        /// The numbers, the most urgent first: "10 or 5".
        package var phrase: String {
            Priority.allCases.reversed().filter { self.contains($0) }.map { "\($0.rawValue)" }
                .joined(separator: " or ")
        }
    }

    /// The ways to be authorised with APNs.
    package struct Credentials: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A provider token, signed with a `.p8` key.
        package static let token = Self(rawValue: 1)
        /// A client certificate, whose extensions may have to list the topic.
        package static let certificate = Self(rawValue: 2)
        package static let any: Self = [.token, .certificate]
    }

    /// Whether the payload needs Apple's dictionary.
    package enum Aps: Sendable {
        /// Without `aps` the device shows or does nothing.
        case required
        /// The app reads the payload itself.
        case optional
        /// The payload is not a notification: `mdm` instead.
        case absent
    }

    init(
        topicSuffix: StaticString = "",
        defaultPriority: Priority = .immediate,
        priorities: Priorities = [.immediate, .considerate],
        refusedPriorities: Priorities = .none,
        expiresSoon: Bool = false,
        payloadLimit: Int = Contract.payloadLimit,
        credentials: Credentials = .any,
        aps: Aps = .optional
    ) {
        self.suffix = topicSuffix
        self.defaultPriority = defaultPriority
        self.priorities = priorities
        self.refusedPriorities = refusedPriorities
        self.expiresSoon = expiresSoon
        self.payloadLimit = payloadLimit
        self.credentials = credentials
        self.aps = aps
    }
}

extension PushType {
    /// Apple's rules for this type.
    package var rules: PushTypeRules {
        switch self {
        case .alert: Self.alertRules
        case .background: Self.backgroundRules
        case .location: Self.locationRules
        case .voip: Self.voipRules
        case .complication: Self.complicationRules
        case .fileprovider: Self.fileproviderRules
        case .mdm: Self.mdmRules
        case .liveactivity: Self.liveactivityRules
        case .pushtotalk: Self.pushtotalkRules
        case .widgets: Self.widgetsRules
        case .controls: Self.controlsRules
        }
    }

    private static let alertRules = PushTypeRules(priorities: .any, aps: .required)
    private static let backgroundRules = PushTypeRules(
        defaultPriority: .considerate,
        priorities: .considerate,
        // "Specifying the priority 10 is an error."
        refusedPriorities: .immediate,
        aps: .required
    )
    private static let locationRules = PushTypeRules(topicSuffix: ".location-query", credentials: .token)
    private static let voipRules = PushTypeRules(
        topicSuffix: ".voip",
        priorities: .any,
        expiresSoon: true,
        payloadLimit: Contract.voipPayloadLimit
    )
    private static let complicationRules = PushTypeRules(topicSuffix: ".complication")
    private static let fileproviderRules = PushTypeRules(topicSuffix: ".pushkit.fileprovider")
    private static let mdmRules = PushTypeRules(priorities: .immediate, credentials: .certificate, aps: .absent)
    private static let liveactivityRules = PushTypeRules(
        topicSuffix: ".push-type.liveactivity",
        credentials: .token,
        aps: .required
    )
    private static let pushtotalkRules = PushTypeRules(
        topicSuffix: ".voip-ptt",
        priorities: .immediate,
        expiresSoon: true
    )
    private static let widgetsRules = PushTypeRules(
        topicSuffix: ".push-type.widgets",
        credentials: .token,
        aps: .required
    )
    private static let controlsRules = PushTypeRules(
        topicSuffix: ".push-type.controls",
        credentials: .token,
        aps: .required
    )
}
