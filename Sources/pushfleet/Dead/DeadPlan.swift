internal import Desk
internal import Foundation
internal import Loop
internal import Push
internal import Synchronization

/// What a verb is about to do, from one look at the queue: exactly these letters, whatever dies meanwhile.
struct DeadPlan: Sendable {
    private(set) var ids: Set<DeadLetterID> = []
    private(set) var groups: [DeadListReport.Group] = []
    /// Letters that workers would refuse once more, by why.
    private(set) var problems: [String: Int] = [:]
    private(set) var refused = 0
    private(set) var letters = 0

    private struct Name: Hashable {
        let app: String?
        let reason: String
        let apnsReason: String?
    }

    /// - Parameter rules: nil if it does not matter whether letters are good.
    static func make(
        _ selection: DeadSelection,
        _ access: DeadAccess,
        rules: ReplayRules?
    ) async throws -> DeadPlan {
        let filter = try selection.filter
        let box = Mutex((plan: DeadPlan(), sums: [Name: (Int, Int)]()))
        let now = WallClock.now()
        let look = try await DeadAccess.ask { () throws(DeadLetterFailure) in
            try await access.desk.read(filter) { letter in
                let problem = rules?.problem(of: letter, now: now)
                let name = Name(app: letter.app, reason: letter.reason, apnsReason: letter.apnsReason)
                box.withLock { box in
                    box.plan.add(letter.id, problem)
                    let sum = box.sums[name] ?? (0, 0)
                    box.sums[name] = (sum.0 + 1, sum.1 + (letter.tokens ?? 0))
                }
            }
        }
        var (plan, sums) = box.withLock { $0 }
        try selection.requireAll(plan.ids, look)
        if plan.ids.isEmpty { try selection.options.requireKnownApp(access.settings) }
        plan.groups = sums.map { name, sum in
            DeadListReport.Group(
                app: name.app,
                reason: name.reason,
                apnsReason: name.apnsReason,
                count: sum.0,
                tokens: sum.1
            )
        }
        plan.groups.sort { ($1.count, $0.reason, $0.app ?? "") < ($0.count, $1.reason, $1.app ?? "") }
        look.tellDoubt()
        return plan
    }

    private mutating func add(_ id: DeadLetterID, _ problem: Refusal?) {
        self.letters += 1
        self.ids.insert(id)
        guard let problem else { return }
        self.refused += 1
        let text = problem.sentence
        if self.problems.count < 100 || self.problems[text] != nil { self.problems[text, default: 0] += 1 }
    }

    /// What there is, to read before one says yes.
    func tell(_ verb: String) {
        let twice = self.letters > self.ids.count ? ", of which \(self.letters - self.ids.count) are there twice" : ""
        Terminal.say("\(verb) \(Count.letters(self.letters))\(twice):")
        for line in DeadListReport.table(self.groups.prefix(20)) { Terminal.say(line) }
        if self.groups.count > 20 { Terminal.say("  and \(self.groups.count - 20) more groups") }
        guard self.refused > 0 else { return }
        Terminal.say("\(Count.letters(self.refused)) would be refused again and will stay; mend them with dead edit:")
        DeadPlan.tell(problems: self.problems)
    }

    static func tell(problems: [String: Int]) {
        for (text, count) in problems.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }).prefix(10) {
            Terminal.say("  \(count) × \(text)")
        }
    }
}

/// Numbers for people.
enum Count {
    static func letters(_ count: Int) -> String { "\(count) dead letter\(count == 1 ? "" : "s")" }
}

/// Asks the person at the terminal.
enum Consent {
    /// - Parameter answer: what must be typed.
    static func require(_ answer: String, to question: String, isGiven: Bool) throws(VerbFailure) {
        guard !isGiven else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw VerbFailure("nobody is here to be asked, and nothing was done; say --yes")
        }
        Terminal.say("\(question) Type \(answer):")
        guard readLine() == answer else { throw VerbFailure("nothing was done") }
    }
}
