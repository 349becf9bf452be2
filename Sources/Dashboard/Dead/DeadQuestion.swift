internal import Desk
internal import Push

/// Which dead letters are meant, by the parameters of `GET /api/dead` or the filter of a replay or purge.
struct DeadQuestion: Equatable {
    var app: String?
    var lane: Lane?
    var reason: String?
    var apnsReason: String?
    var minAge: Int?
    var maxAge: Int?
    var part: String?

    static let names: Set<String> = ["app", "lane", "reason", "apns_reason", "min_age_ms", "max_age_ms", "q"]
    /// More than letters live.
    private static let ages = 0...3_153_600_000_000

    init(_ parameters: Parameters) throws(Problem) {
        self.app = try parameters.text("app")
        self.lane = try Self.lane(try parameters.text("lane"))
        self.reason = try parameters.text("reason")
        self.apnsReason = try parameters.text("apns_reason")
        self.minAge = try parameters.number("min_age_ms", in: Self.ages)
        self.maxAge = try parameters.number("max_age_ms", in: Self.ages)
        self.part = try parameters.text("q", limit: 255)
    }

    init(_ fields: BodyFields) throws(Problem) {
        self.app = try fields.text("app")
        self.lane = try Self.lane(try fields.text("lane"))
        self.reason = try fields.text("reason")
        self.apnsReason = try fields.text("apns_reason")
        self.minAge = try fields.number("min_age_ms", in: Self.ages)
        self.maxAge = try fields.number("max_age_ms", in: Self.ages)
        self.part = try fields.text("q", bytes: 0...255)
    }

    static func lane(_ text: String?) throws(Problem) -> Lane? {
        guard let text else { return nil }
        guard let lane = Lane(rawValue: text) else { throw .badRequest("lane must be now or bulk", field: "lane") }
        return lane
    }

    /// - Parameter now: what ages are counted from.
    func filter(at now: UnixTime) -> DeadLetterFilter {
        var filter = DeadLetterFilter()
        filter.app = self.app
        filter.lane = self.lane
        filter.reason = self.reason
        filter.apnsReason = self.apnsReason
        filter.diedBefore = self.minAge.map { now - .milliseconds($0) + .milliseconds(1) }
        filter.diedSince = self.maxAge.map { now - .milliseconds($0) }
        filter.text = self.part
        return filter
    }

    /// For the list of actions.
    var words: String {
        let parts = [
            self.app.map { "app \($0)" }, self.lane.map { "lane \($0.rawValue)" }, self.reason.map { "reason \($0)" },
            self.apnsReason.map { "Apple's reason \($0)" }, self.minAge.map { "older than \($0 / 1000) s" },
            self.maxAge.map { "younger than \($0 / 1000) s" }, self.part.map { "with \($0)" },
        ].compactMap { $0 }
        return parts.isEmpty ? "all" : parts.joined(separator: ", ")
    }
}
