internal import Desk
internal import Loop
internal import Push
internal import Store

extension DashboardService {
    /// Carries out an acting call, and writes down who wanted what and what became of it.
    func act(
        _ route: Route,
        _ action: ActionEntry.Action,
        _ call: Call,
        _ visitor: Doorkeeper.Visitor
    ) async throws(Problem) -> Answer {
        let result: Result<Answer, Problem>
        var order = Order()
        do throws(Problem) {
            guard !Forgery.isForged(call, token: visitor.forgeryToken) else { throw .forged }
            guard visitor.mayAct else { throw .readOnly }
            _ = try Parameters(call.query, of: route)
            result = .success(try await self.carryOut(route, call, visitor, &order))
        } catch {
            result = .failure(error)
        }
        var outcome = "ok"
        if case .failure(let problem) = result { outcome = problem.code.rawValue }
        await self.actions.write(
            ActionEntry(
                at: WallClock.now(),
                user: visitor.user,
                action,
                order.target,
                outcome: outcome,
                detail: order.detail
            ),
            from: self.doorkeeper.clientAddress(call)
        )
        return try result.get()
    }

    /// What an action is about, for the list of actions; known once the body is understood.
    struct Order {
        var target: String?
        var detail: String?
    }

    private func carryOut(
        _ route: Route,
        _ call: Call,
        _ visitor: Doorkeeper.Visitor,
        _ order: inout Order
    ) async throws(Problem) -> Answer {
        switch route {
        case .pause: return try await self.pause(call, visitor, &order)
        case .resume: return try await self.resume(call, visitor, &order)
        case .drain: return try await self.drain(call, visitor, &order)
        case .stop:
            let id = try BodyFields(call.body, only: ["id"]).required("id", bytes: 1...128)
            order.target = id
            guard let job = await self.jobs.stop(id) else {
                throw .notFound("there is no such job", "Look at Activity; a job is known for a day, by its dashboard.")
            }
            return .json(job)
        default: return try await self.actOnDead(route, call, visitor, &order)
        }
    }

    /// One sentence that says what was done.
    struct Done: Encodable {
        let text: String
    }

    // MARK: Pauses

    private static let longestReason = 500
    /// Ten years; who wants more leaves it out.
    private static let longestPause = 315_360_000_000

    private func pause(
        _ call: Call,
        _ visitor: Doorkeeper.Visitor,
        _ order: inout Order
    ) async throws(Problem) -> Answer {
        let fields = try BodyFields(call.body, only: ["app", "reason", "for_ms"])
        let app = try fields.required("app")
        order.target = app
        let reason = try fields.text("reason", bytes: 0...Self.longestReason) ?? ""
        let time = try fields.number("for_ms", in: 1000...Self.longestPause)
        order.detail = reason.isEmpty ? nil : reason
        try await self.check(app)
        _ = try await self.ask(as: visitor) { desk throws(RedisFailure) in
            try await desk.pause(app, for: time.map { .milliseconds($0) }, reason: reason)
        }
        let end = time == nil ? "until somebody resumes it" : "until its time is over"
        return .json(Done(text: "\(app) is paused \(end); workers stop within 2 seconds."))
    }

    private func resume(
        _ call: Call,
        _ visitor: Doorkeeper.Visitor,
        _ order: inout Order
    ) async throws(Problem) -> Answer {
        let app = try BodyFields(call.body, only: ["app"]).required("app")
        order.target = app
        try await self.check(app)
        let pauses = try await self.ask(as: visitor) { desk throws(RedisFailure) in try await desk.resume(app) }
        if let fault = pauses.first(where: { $0.kind == .fault }) {
            return .json(
                Done(text: "\(app) is paused (\(fault.cause)) and probed now; it goes on when a push goes through.")
            )
        }
        return .json(
            Done(text: pauses.isEmpty ? "\(app) was not paused." : "\(app) goes on; workers see it within 2 seconds.")
        )
    }

    private func check(_ app: String) async throws(Problem) {
        guard await self.source.picture().configured.apps.contains(where: { $0.id == app }) else { throw .noApp }
    }

    private func ask<Answer: Sendable>(
        as visitor: Doorkeeper.Visitor,
        _ question: @Sendable (PauseDesk) async throws(RedisFailure) -> Answer
    ) async throws(Problem) -> Answer {
        let result = await self.links.askRedis { redis throws(RedisFailure) in
            try await question(PauseDesk(redis, as: visitor.user))
        }
        await self.source.forget()
        switch result {
        case .success(let answer): return answer
        case .failure(let failure): throw .redisAway(failure.phrase)
        }
    }

    // MARK: Workers

    private func drain(
        _ call: Call,
        _ visitor: Doorkeeper.Visitor,
        _ order: inout Order
    ) async throws(Problem) -> Answer {
        let id = try BodyFields(call.body, only: ["worker"]).required("worker")
        order.target = id
        let picture = await self.source.picture()
        guard let worker = try picture.fleet().workers.first(where: { $0.id == id }) else {
            throw .notFound("this worker is gone", "Look at the list of workers.")
        }
        let result = await self.links.askRedis { redis throws(RedisFailure) in
            try await WorkerDesk(redis, as: visitor.user).drain([worker])
        }
        await self.source.forget()
        if case .failure(let failure) = result { throw .redisAway(failure.phrase) }
        return .json(Done(text: "\(worker.host):\(worker.pid) begins to drain within 2 seconds, and exits."))
    }
}
