internal import Broker
internal import Push

/// The headers that only dead letters have; documented in `deploy/contract`.
enum DeadLetterHeader {
    static let apnsReason = "x-pushfleet-apns-reason"
    static let field = "x-pushfleet-field"
    static let detail = "x-pushfleet-detail"
    static let diedAt = "x-pushfleet-died-at"
    static let worker = "x-pushfleet-worker"
    static let version = "x-pushfleet-version"
}

/// What a dead letter's headers say of its death. A value of another type than it should have counts as absent.
struct DeathReader {
    private let values: [String: HeaderValue]

    init(_ headers: [Header]) {
        // Of a name that stands there twice the first counts.
        self.values = Dictionary(headers.map { ($0.name, $0.value) }) { first, _ in first }
    }

    func text(_ name: String) -> String? {
        guard case .string(let text)? = self.values[name], !text.isEmpty else { return nil }
        return text
    }

    func count(_ name: String) -> Int {
        guard case .integer(let number)? = self.values[name] else { return 0 }
        return Int(min(max(number, 0), 1_000_000))
    }

    func time(_ name: String) -> UnixTime? {
        guard case .integer(let number)? = self.values[name], number >= 0 else { return nil }
        return UnixTime(milliseconds: number)
    }

    var reason: String { self.text(DeliveryHeaders.reasonName) ?? self.brokersReason ?? "unknown" }

    var diedAt: UnixTime? { self.time(DeadLetterHeader.diedAt) ?? self.brokersTime }

    /// RabbitMQ gave it up while workers were at it, or somebody imported such a letter.
    var isUnfinished: Bool {
        if case .bool(let isUnfinished)? = self.values[DeliveryHeaders.unfinishedName] { return isUnfinished }
        return self.text(DeliveryHeaders.reasonName) == nil && self.brokersReason != nil
    }

    /// `x-death` has the newest death first; the way through a delay queue is one too.
    private var lastDeath: [Header]? {
        guard case .array(let deaths)? = self.values["x-death"], case .table(let death)? = deaths.first else {
            return nil
        }
        return death
    }

    private var brokersReason: String? {
        guard case .string(let text)? = self.lastDeath?.first(where: { $0.name == "reason" })?.value else { return nil }
        return text
    }

    private var brokersTime: UnixTime? {
        guard case .timestamp(let time)? = self.lastDeath?.first(where: { $0.name == "time" })?.value else {
            return nil
        }
        return time
    }
}
