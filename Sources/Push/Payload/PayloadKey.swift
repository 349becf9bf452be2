/// The keys that Apple gives a meaning inside `aps`, its `alert` and its `sound`.
enum PayloadKey: UInt8, CaseIterable, Sendable {
    // Inside `aps`.
    case alert, badge, sound, threadID, category, contentAvailable, mutableContent, targetContentID
    case interruptionLevel, relevanceScore, filterCriteria, urlArgs
    // Inside `aps` of a Live Activity.
    case staleDate, contentState, timestamp, event, dismissalDate, attributesType, attributes, inputPushToken
    case inputPushChannel
    // Inside `aps` of a widget or a control.
    case contentChanged
    // Inside `alert`.
    case title, subtitle, body, launchImage, titleLocKey, titleLocArgs, subtitleLocKey, subtitleLocArgs, locKey, locArgs
    case action, actionLocKey, summaryArg, summaryArgCount
    // Inside `sound`.
    case critical, name, volume

    /// As it is written.
    var text: String {
        switch self {
        case .alert: "alert"
        case .badge: "badge"
        case .sound: "sound"
        case .threadID: "thread-id"
        case .category: "category"
        case .contentAvailable: "content-available"
        case .mutableContent: "mutable-content"
        case .targetContentID: "target-content-id"
        case .interruptionLevel: "interruption-level"
        case .relevanceScore: "relevance-score"
        case .filterCriteria: "filter-criteria"
        case .urlArgs: "url-args"
        case .staleDate: "stale-date"
        case .contentState: "content-state"
        case .timestamp: "timestamp"
        case .event: "event"
        case .dismissalDate: "dismissal-date"
        case .attributesType: "attributes-type"
        case .attributes: "attributes"
        case .inputPushToken: "input-push-token"
        case .inputPushChannel: "input-push-channel"
        case .contentChanged: "content-changed"
        case .title: "title"
        case .subtitle: "subtitle"
        case .body: "body"
        case .launchImage: "launch-image"
        case .titleLocKey: "title-loc-key"
        case .titleLocArgs: "title-loc-args"
        case .subtitleLocKey: "subtitle-loc-key"
        case .subtitleLocArgs: "subtitle-loc-args"
        case .locKey: "loc-key"
        case .locArgs: "loc-args"
        case .action: "action"
        case .actionLocKey: "action-loc-key"
        case .summaryArg: "summary-arg"
        case .summaryArgCount: "summary-arg-count"
        case .critical: "critical"
        case .name: "name"
        case .volume: "volume"
        }
    }

    /// What its value must be.
    enum Rule {
        /// A string, or the dictionary of an alert.
        case alert
        /// A string, or the dictionary of a critical alert.
        case sound
        /// A string; for a Live Activity also a dictionary with a localisation key.
        case localizable
        case string
        case strings
        case object
        /// The number 1. Without it, the key is left out.
        case one
        /// The number 0 or 1.
        case zeroOrOne
        case wholeNumber
        /// A number from 0 to 1.
        case fraction
        /// A number from 0 to 1; any number for a Live Activity.
        case relevance
        /// Seconds since 1970.
        case seconds
        case isTrue
        case word([String])
    }

    var rule: Rule {
        switch self {
        case .alert: .alert
        case .sound: .sound
        case .title, .body: .localizable
        case .badge, .summaryArgCount: .wholeNumber
        case .contentAvailable, .mutableContent, .inputPushToken: .one
        case .relevanceScore: .relevance
        case .interruptionLevel: .word(Self.interruptionLevels)
        case .event: .word(Self.events)
        case .staleDate, .timestamp, .dismissalDate: .seconds
        case .contentState, .attributes: .object
        case .contentChanged: .isTrue
        case .urlArgs, .titleLocArgs, .subtitleLocArgs, .locArgs: .strings
        case .critical: .zeroOrOne
        case .volume: .fraction
        case .threadID, .category, .targetContentID, .filterCriteria, .attributesType, .inputPushChannel, .subtitle,
            .launchImage, .titleLocKey, .subtitleLocKey, .locKey, .action, .actionLocKey, .summaryArg, .name:
            .string
        }
    }

    static let interruptionLevels = ["passive", "active", "time-sensitive", "critical"]
    static let events = ["start", "update", "end"]

    /// The push types that the key is for, in words; nil if it may stand in any.
    func strangerPhrase(to type: PushType) -> String? {
        switch self {
        case .staleDate, .contentState, .timestamp, .event, .dismissalDate, .attributesType, .attributes,
            .inputPushToken, .inputPushChannel:
            type == .liveactivity ? nil : "liveactivity"
        case .contentChanged:
            type == .widgets || type == .controls ? nil : "widgets and controls"
        default: nil
        }
    }

    /// A dictionary of Apple's, and the keys it may hold.
    struct Table: Sendable {
        /// Its name, for sentences.
        let name: String
        let keys: [PayloadKey]

        static let aps = Table(
            name: "aps",
            keys: PayloadKey.allCases.filter { $0.rawValue <= PayloadKey.contentChanged.rawValue }
        )
        static let alert = Table(name: "alert", keys: Self.alertKeys)
        /// A Live Activity's alert names its sound itself.
        static let activityAlert = Table(name: "alert", keys: Self.alertKeys + [.sound])
        static let sound = Table(name: "sound", keys: [.critical, .name, .volume])
        /// A title or a body of a Live Activity.
        static let text = Table(name: "text", keys: [.locKey, .locArgs])

        private static let alertKeys: [PayloadKey] = PayloadKey.allCases.filter {
            (PayloadKey.title.rawValue...PayloadKey.summaryArgCount.rawValue).contains($0.rawValue)
        }

        /// The key that a member's name stands for.
        func key(_ name: JSONValue, in scanner: JSONScanner) -> PayloadKey? {
            if name.hasEscapes {
                let text = String(decoding: scanner.unescaped(name.content), as: UTF8.self)
                return self.keys.first { $0.text == text }
            }
            return self.keys.first { scanner.spells(name.content, $0.text) }
        }
    }
}

extension PayloadKey {
    /// Keys that a dictionary has.
    struct Found {
        private var bits: UInt64 = 0

        func contains(_ key: PayloadKey) -> Bool { self.bits & 1 << UInt64(key.rawValue) != 0 }

        /// - Returns: whether it was not there before.
        mutating func insert(_ key: PayloadKey) -> Bool {
            defer { self.bits |= 1 << UInt64(key.rawValue) }
            return !self.contains(key)
        }
    }
}

extension JSONScanner {
    /// Whether the bytes in `range` are exactly `text`. Named apart from `equals`, which a literal must keep choosing: it
    /// costs the decoder a third less.
    func spells(_ range: Range<Int>, _ text: String) -> Bool {
        text.utf8.count == range.count
            && UnsafeRawBufferPointer(start: self.base + range.lowerBound, count: range.count)
                .elementsEqual(text.utf8)
    }
}
