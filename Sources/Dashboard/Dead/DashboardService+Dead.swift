internal import Desk
internal import Foundation
internal import Loop
internal import Push

extension DashboardService {
    // MARK: Reading

    func readDead(
        _ route: Route,
        _ parameters: Parameters,
        _ visitor: Doorkeeper.Visitor
    ) async throws(Problem) -> Answer {
        guard route == .dead else {
            let id = try Self.id(try parameters.required("id"))
            guard let (letter, body) = try await self.dead.letter(id) else { throw .noLetter }
            return .json(
                DeadDetail(
                    letter,
                    body: body,
                    rules: await self.rules(),
                    showsTokens: visitor.mayAct,
                    at: WallClock.now()
                )
            )
        }
        let question = try DeadQuestion(parameters)
        let limit = try parameters.limit()
        var cursor: DeadCursor?
        if let after = try parameters.text("after") {
            guard let place = DeadCursor(after) else {
                throw .badRequest("after is not what a page gave as next", field: "after", "Begin at the first page.")
            }
            cursor = place
        }
        let contents = try await self.dead.contents()
        return .json(
            DeadPage(
                contents,
                question,
                after: cursor,
                limit: limit,
                messages: await self.source.picture().deadLetters,
                at: WallClock.now()
            )
        )
    }

    /// Those of messages that were found; none if the queue cannot be read.
    func deadLetters(of report: FindReport) async -> [String] {
        let ids = Set(report.messages.filter { !$0.isCut }.map(\.messageId))
        guard !ids.isEmpty, let contents = try? await self.dead.contents() else { return [] }
        return contents.letters.filter { ids.contains(String(decoding: $0.messageID, as: UTF8.self)) }.prefix(20)
            .map { "\($0.id)" }
    }

    private static func id(_ text: String) throws(Problem) -> DeadLetterID {
        guard let id = DeadLetterID(text) else { throw .noLetter }
        return id
    }

    private func rules() async -> ReplayRules {
        let apps = await self.source.picture().configured.apps
        return ReplayRules(
            apps: Dictionary(
                apps.map { ($0.id, ReplayRules.App(fit: $0.fit, lint: $0.lint)) },
                uniquingKeysWith: { first, _ in first }
            )
        )
    }

    // MARK: Acting

    func actOnDead(
        _ route: Route,
        _ call: Call,
        _ visitor: Doorkeeper.Visitor,
        _ order: inout Order
    ) async throws(Problem) -> Answer {
        if route == .edit { return try await self.edit(call, &order) }
        let selection = try DeadSelection(call.body, hasRate: route == .replay)
        order.target = selection.words
        // What the index has is what operators were shown: letters that died since are not touched.
        let ids =
            if let named = selection.named { named } else {
                try selection.select(try await self.dead.contents().letters, at: WallClock.now())
            }
        order.detail = ids.count == 1 ? "1 letter" : "\(ids.count) letters"
        let rate = route == .replay ? selection.rate : nil
        let work = DeadWork(
            desk: self.dead.desk,
            ids: ids,
            gone: selection.strangers,
            deed: route == .replay ? .replay(await self.rules(), rate: selection.rate) : .purge,
            index: self.dead,
            source: self.source
        )
        let job = await self.jobs.start(
            route == .replay ? .replay : .purge,
            by: visitor.user,
            selection.words,
            total: ids.count + selection.strangers,
            rate: rate
        ) { tell in try await work.run(tell) }
        guard let job else {
            throw Problem(
                status: 409,
                code: .changed,
                error: "another job of this dashboard is running",
                nextStep: "Wait for its end, or stop it; see Activity."
            )
        }
        return .json(job)
    }

    private func edit(_ call: Call, _ order: inout Order) async throws(Problem) -> Answer {
        let fields = try BodyFields(call.body, only: ["id", "body", "app", "lane"])
        let text = try fields.required("id", bytes: 1...128)
        order.target = text
        let body = try fields.required("body", bytes: 0...(256 << 10))
        let app = try fields.text("app", bytes: 1...255)
        let lane = try DeadQuestion.lane(try fields.text("lane"))
        let id = try Self.id(text)
        let outcome: DeadLetterDesk.Edit
        do throws(DeadLetterFailure) {
            outcome = try await self.dead.desk.edit(
                id,
                body: Array(body.utf8),
                app: app,
                lane: lane,
                rules: await self.rules()
            )
        } catch {
            throw .dead(error)
        }
        await self.dead.forget()
        await self.source.forget()
        switch outcome {
        case .replayed: return .json(Done(text: "The message was published with the new body."))
        case .refused(let refusal):
            throw Problem(
                status: 422,
                code: .refused,
                error: Self.phrase(refusal.detail),
                nextStep: "Correct it; nothing was sent.",
                field: refusal.field ?? "body"
            )
        case .missing: throw .noLetter
        case .failed(let reason):
            throw .unavailable("RabbitMQ did not take the message: \(reason)", "The letter is as it was; try again.")
        }
    }

    /// As errors are written: without the full stop.
    private static func phrase(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}

extension Problem {
    static let noLetter = Problem.notFound(
        "this dead letter is not in the queue any more",
        "Somebody replayed or purged it; see Activity."
    )
}

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

/// What a job does.
struct DeadWork: Sendable {
    enum Deed: Sendable {
        case replay(ReplayRules, rate: Int)
        case purge
    }

    /// Why a job came to no end, for people.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let desk: DeadLetterDesk
    let ids: Set<DeadLetterID>
    /// Chosen by ids that no letter has.
    let gone: Int
    let deed: Deed
    let index: DeadIndex
    let source: FleetSource

    func run(_ tell: @escaping @Sendable (JobBoard.Progress) -> Void) async throws -> JobBoard.Progress {
        let stop = StopSwitch()
        let (gone, desk, ids) = (self.gone, self.desk, self.ids)
        let progress: @Sendable (DeadLetterReport) -> Void = { tell(Self.progress($0, gone: gone)) }
        let report = await withTaskCancellationHandler {
            switch self.deed {
            case .replay(let rules, let rate):
                await desk.replay(ids, rules: rules, rate: rate, stop: stop, progress: progress)
            case .purge: await desk.purge(ids, stop: stop, progress: progress)
            }
        } onCancel: {
            stop.stop()
        }
        await self.index.forget()
        await self.source.forget()
        tell(Self.progress(report, gone: gone))
        if let failure = report.failure { throw Failure(description: "\(failure)") }
        return Self.progress(report, gone: gone)
    }

    private static func progress(_ report: DeadLetterReport, gone: Int) -> JobBoard.Progress {
        JobBoard.Progress(
            done: report.done,
            failed: report.failed + report.refused,
            skipped: report.missing + gone
        )
    }
}
