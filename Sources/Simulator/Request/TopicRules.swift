/// Which topics there are, and which push type fits which.
///
/// Source: Apple, "Sending notification requests to APNs".
struct TopicRules: Sendable {
    private let bundleIDs: Set<[UInt8]>?

    /// - Parameter bundleIDs: the apps of the provider's team; nil when any will do.
    init(bundleIDs: Set<String>?) {
        self.bundleIDs = bundleIDs.map { Set($0.map { Array($0.utf8) }) }
    }

    private init(_ bundleIDs: Set<[UInt8]>) {
        self.bundleIDs = bundleIDs
    }

    /// These with one app more; any is any already.
    func adding(_ bundleID: String) -> TopicRules {
        guard let bundleIDs = self.bundleIDs else { return self }
        return TopicRules(bundleIDs.union([Array(bundleID.utf8)]))
    }

    /// Why no push may go to `topic` under `key`, or nil.
    /// - Parameter key: nil when it is not known yet.
    func refusal(of topic: ArraySlice<UInt8>, key: RegisteredKey?) -> Reason? {
        guard !topic.isEmpty else { return .missingTopic }
        guard Self.isWellFormed(topic) else { return .badTopic }
        if let bundleIDs = self.bundleIDs, !Self.contains(bundleIDs, topic) { return .topicDisallowed }
        if let topics = key?.topics, !Self.contains(topics, topic) { return .topicDisallowed }
        return nil
    }

    /// Whether pushes of `type` go to topics like this one.
    func fits(_ topic: ArraySlice<UInt8>, _ type: PushKind) -> Bool {
        guard let bundle = Self.bundle(of: topic, type) else { return false }
        if let bundleIDs = self.bundleIDs { return bundleIDs.contains(Array(bundle)) }
        return !type.topicSuffix.isEmpty || !PushKind.suffixed.contains { Self.bundle(of: topic, $0) != nil }
    }

    /// Whether one of `allowed` is the topic, or its bundle id.
    private static func contains(_ allowed: Set<[UInt8]>, _ topic: ArraySlice<UInt8>) -> Bool {
        if allowed.contains(Array(topic)) { return true }
        return PushKind.suffixed.contains { type in
            self.bundle(of: topic, type).map { allowed.contains(Array($0)) } ?? false
        }
    }

    /// The topic without the type's suffix; nil when it does not end so.
    private static func bundle(of topic: ArraySlice<UInt8>, _ type: PushKind) -> ArraySlice<UInt8>? {
        let suffix = type.topicSuffix.utf8
        guard !suffix.isEmpty else { return topic }
        guard topic.count > suffix.count, topic.suffix(suffix.count).elementsEqual(suffix) else { return nil }
        return topic.dropLast(suffix.count)
    }

    static func isWellFormed(_ topic: ArraySlice<UInt8>) -> Bool {
        topic.count <= 255
            && topic.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
