internal import Desk
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
            guard let letter = try await self.dead.letter(id) else { throw .noLetter }
            return .json(
                DeadDetail(
                    letter,
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
        if outcome == .replayed { await self.dead.remove([id]) } else { await self.dead.forget() }
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
