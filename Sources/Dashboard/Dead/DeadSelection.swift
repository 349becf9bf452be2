internal import Desk
internal import Push

/// Which letters a replay or purge is about: some by their ids, or all that fit a filter.
struct DeadSelection {
    private enum Choice {
        case ids([String])
        case filter(DeadQuestion)
    }

    private let choice: Choice
    /// How many the operator was shown.
    let expected: Int
    /// Letters per second.
    let rate: Int

    init(_ body: [UInt8], hasRate: Bool) throws(Problem) {
        let names: Set<String> = ["ids", "filter", "expected"]
        let fields = try BodyFields(body, only: hasRate ? names.union(["rate_per_s"]) : names)
        guard let expected = try fields.number("expected", in: 1...Int(Int32.max)) else {
            throw .badRequest("expected is missing: how many letters were you shown?", field: "expected")
        }
        self.expected = expected
        self.rate = try fields.number("rate_per_s", in: 1...100_000) ?? 500
        let ids = try fields.texts("ids", count: 1...500)
        let filter = try fields.object("filter", only: DeadQuestion.names)
        switch (ids, filter) {
        case (let ids?, nil): self.choice = .ids(ids)
        case (nil, let filter?): self.choice = .filter(try DeadQuestion(filter))
        default: throw .badRequest("give either ids or filter", field: "filter")
        }
    }

    var words: String {
        switch self.choice {
        case .ids(let ids): ids.count == 1 ? ids[0] : "\(ids.count) chosen"
        case .filter(let question): question.words
        }
    }

    /// The letters that were named; nil if a filter chooses them.
    var named: Set<DeadLetterID>? {
        guard case .ids(let ids) = self.choice else { return nil }
        return Set(ids.compactMap { DeadLetterID($0) })
    }

    /// How many ids are none of a dead letter.
    var strangers: Int {
        guard case .ids(let ids) = self.choice else { return 0 }
        return Set(ids.filter { DeadLetterID($0) == nil }).count
    }

    /// The letters that fit the filter.
    /// - Throws: if they are more than the operator was shown.
    func select(_ letters: [DeadLetter], at now: UnixTime) throws(Problem) -> Set<DeadLetterID> {
        guard case .filter(let question) = self.choice else { return [] }
        let filter = question.filter(at: now)
        let found = letters.filter { filter.matches($0) }
        guard found.count <= self.expected else {
            throw Problem(
                status: 409,
                code: .changed,
                error: "\(found.count) dead letters fit now; you were shown \(self.expected)",
                nextStep: "Look at the list again, and then decide."
            )
        }
        return Set(found.map(\.id))
    }
}
