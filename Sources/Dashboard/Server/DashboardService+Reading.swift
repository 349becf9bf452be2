internal import Desk
internal import Loop
internal import Push
internal import Store

extension DashboardService {
    /// What may be asked by everybody who is logged in.
    func read(_ route: Route, _ call: Call, _ visitor: Doorkeeper.Visitor) async throws(Problem) -> Answer {
        let parameters = try Parameters(call.query, of: route)
        switch route {
        case .session: return .json(self.report(visitor))
        case .events: return await self.events(visitor)
        case .jobs: return .json(await self.jobs.report())
        case .actions:
            return .json(ListReport(timeMs: WallClock.now().milliseconds, items: try await self.actions.read()))
        case .dead, .letter: return try await self.readDead(route, parameters, visitor)
        case .app: return try await self.readApp(parameters)
        default: return try Self.read(route, parameters, await self.source.picture(), self.parts.reasons)
        }
    }

    /// What the picture of the fleet has.
    static func read(
        _ route: Route,
        _ parameters: Parameters,
        _ picture: FleetPicture,
        _ reasons: [ExplainedReason]
    ) throws(Problem) -> Answer {
        let time = picture.time.milliseconds
        if route == .overview { return .json(Overview(picture)) }
        if route == .ladder { return .json(Ladder(try picture.allQueues(), ages: picture.ages, at: picture.time)) }
        let fleet = try picture.fleet()
        switch route {
        case .apps:
            let question = try AppQuestion(parameters)
            return .json(PageReport(question.select(picture.apps), question.page, at: time))
        case .workers:
            let part = try parameters.text("q", limit: 255)?.lowercased()
            return .json(PageReport(WorkerReport.all(fleet, part: part), try parameters.page(), at: time))
        case .budgets: return .json(PageReport(BudgetReport.all(picture, fleet), try parameters.page(), at: time))
        case .leases:
            let leases = LeaseReport.all(
                fleet,
                pool: try parameters.text("pool"),
                worker: try parameters.text("worker")
            )
            return .json(PageReport(leases, try parameters.page(), at: time))
        case .reasons:
            let counted = CountedReason.all(reasons, fleet.lanes, hour: picture.figures?.hour)
            return .json(ListReport(timeMs: time, items: counted))
        case .credentials: return .json(ListReport(timeMs: time, items: CredentialReport.all(picture)))
        default: throw .notFound("there is no such route")
        }
    }

    /// One app with its minutes, which nobody reads for all apps.
    private func readApp(_ parameters: Parameters) async throws(Problem) -> Answer {
        let picture = await self.source.picture()
        let fleet = try picture.fleet()
        guard let row = picture.app(try parameters.required("app")) else { throw .noApp }
        let start = fleet.time.minute - Int64(AppMinutes.length)
        let minutes = await self.links.askRedis { redis throws(RedisFailure) in
            try await SeriesReader(redis).app(row.app, from: start, length: AppMinutes.length)
        }
        return .json(AppDetail(row, picture, fleet, minutes: try? minutes.get()))
    }

    private func events(_ visitor: Doorkeeper.Visitor) async -> Answer {
        var answer = Answer(contentType: "text/event-stream", body: .events(await self.hub.open(visitor)))
        // Proxies would gather events before they pass them on.
        answer.headers.append(("x-accel-buffering", "no"))
        return answer
    }

    // MARK: Find

    /// The whole story of a message, or of a token's last messages.
    func find(_ call: Call, _ visitor: Doorkeeper.Visitor) async throws(Problem) -> Answer {
        _ = try Parameters(call.query, of: .find)
        let fields = try BodyFields(call.body, only: ["what", "token", "app", "limit"])
        let question = FindQuestion(
            try fields.required("what", bytes: 1...256),
            token: try fields.text("token"),
            app: try fields.text("app"),
            limit: try fields.number("limit", in: 1...100) ?? 10
        )
        switch question.fault {
        case nil: break
        case .what(let problem): throw .badRequest(problem, field: "what")
        case .token(let problem): throw .badRequest("token \(problem)", field: "token")
        case .limit(let problem): throw .badRequest("limit \(problem)", field: "limit")
        }
        let result = await self.links.askRedis { redis throws(RedisFailure) in
            // The page writes text as text: nothing is escaped for it.
            try await question.ask(TrailReader(redis)) { String(decoding: $0, as: UTF8.self) }
        }
        switch result {
        case .failure(let failure): throw .redisAway(failure.phrase)
        case .success(let report):
            let hasTrail = await self.source.picture().configured.hasTrail
            let isEmpty = report.messages.isEmpty
            let text = isEmpty ? report.nothing(isOn: hasTrail, app: question.app) : nil
            return .json(Found(report: report, deadLetters: await self.deadLetters(of: report), text: text))
        }
    }

    /// A find report with what the page shows beside it.
    private struct Found: Encodable {
        private struct Rest: Encodable {
            let advice: [FindReport.Advice]
            let deadLetters: [String]
            let text: String?
        }

        private let report: FindReport
        private let rest: Rest

        init(report: FindReport, deadLetters: [String], text: String?) {
            self.report = report
            self.rest = Rest(advice: report.advice, deadLetters: deadLetters, text: text)
        }

        func encode(to encoder: any Encoder) throws {
            try self.report.encode(to: encoder)
            try self.rest.encode(to: encoder)
        }
    }
}

extension Problem {
    static let noApp = Problem.notFound("there is no such app", "Look at the list of apps.")
}
