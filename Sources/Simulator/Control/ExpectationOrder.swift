internal import Foundation
internal import Push

/// What `POST /expectations` asks: whether such pushes were sent to a token, and so many.
struct ExpectationOrder: Equatable, Sendable {
    let token: [UInt8]
    private let topic: String?
    private let pushType: String?
    private let priority: Int?
    private let collapseID: String?
    /// Must be in the body: objects may have more fields there, everything else must be equal.
    private let payload: ControlValue?
    private let least: Int
    private let most: Int?
    /// Only requests after this one.
    private let after: UInt64
    let limit: Duration

    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        let text = try fields.requiredString("token")
        guard let token = Hex.decode(Array(text.utf8)), !token.isEmpty else {
            throw fields.error("token", "must be an even number of hexadecimal digits")
        }
        self.token = token
        self.topic = try fields.string("topic")
        self.pushType = try fields.string("push_type")
        self.priority = try fields.integer("priority", in: 1...10).map { Int($0) }
        self.collapseID = try fields.string("collapse_id")
        self.payload = fields.take("payload")
        let most = try fields.integer("at_most", in: 0...1_000_000).map { Int($0) }
        self.most = most
        let least = try fields.integer("at_least", in: 0...1_000_000).map { Int($0) }
        self.least = least ?? (most == nil ? 1 : 0)
        self.after = UInt64(try fields.integer("after", in: 0...Int64.max) ?? 0)
        self.limit = .milliseconds(try fields.integer("within_ms", in: 0...60_000) ?? 0)
        try fields.end()
        if let most, most < self.least { throw fields.error("at_most", "must not be less than at_least") }
    }

    /// What it comes to.
    struct Result: Encodable, Sendable {
        var holds: Bool
        /// Pushes that fit.
        var count: Int
        /// What is wrong; nil when it holds.
        var error: String?
        /// Those that fit if it holds, else all accepted ones to the token; the newest first.
        var pushes: [LedgerRecord]
    }

    /// - Returns: nil while it is too early to tell.
    func result(in service: PushService, isLast: Bool) -> Result? {
        let all = service.pushes(to: self.token, topic: nil, after: self.after, limit: 1000)
        let fitting = all.filter { self.fits($0) }
        let isEnough = fitting.count >= self.least
        if let most = self.most, fitting.count > most {
            let error = "expected at most \(most), and there are \(fitting.count)"
            return Result(holds: false, count: fitting.count, error: error, pushes: fitting)
        }
        // With an upper bound one more could still come.
        guard isLast || (isEnough && self.most == nil) else { return nil }
        guard !isEnough else { return Result(holds: true, count: fitting.count, pushes: fitting) }
        let others = all.count == fitting.count ? "" : "; \(all.count - fitting.count) to the token do not fit"
        let error = "expected at least \(self.least), and there are \(fitting.count)\(others)"
        return Result(holds: false, count: fitting.count, error: error, pushes: all)
    }

    private func fits(_ push: LedgerRecord) -> Bool {
        if let topic = self.topic, push.topic != topic { return false }
        if let pushType = self.pushType, push.pushType != pushType { return false }
        if let priority = self.priority, push.priority != priority { return false }
        if let collapseID = self.collapseID, push.collapseID != collapseID { return false }
        guard let payload = self.payload else { return true }
        guard let body = push.body,
            let value = try? JSONDecoder().decode(ControlValue.self, from: Data(body.utf8))
        else { return false }
        return value.contains(payload)
    }
}

extension ControlValue {
    /// Whether `part` is in it: objects may have more fields, everything else must be equal.
    func contains(_ part: ControlValue) -> Bool {
        switch (self, part) {
        case (.object(let fields), .object(let wanted)):
            return wanted.allSatisfy { name, value in fields[name].map { $0.contains(value) } ?? false }
        case (.integer(let whole), .number(let number)), (.number(let number), .integer(let whole)):
            return Double(whole) == number
        default: return self == part
        }
    }
}

extension PushService {
    /// Accepted pushes to a token, the newest first, with their bodies as far as those are kept.
    func pushes(to token: [UInt8], topic: String?, after: UInt64, limit: Int) -> [LedgerRecord] {
        let filter = LedgerFilter(token: Hex.encode(token), topic: topic, accepted: true, limit: limit)
        return self.records(filter).prefix { $0.sequence > after }.map { record in
            var record = record
            record.body = self.ledger.body(of: record.sequence).map { String(decoding: $0, as: UTF8.self) }
            return record
        }
    }
}
