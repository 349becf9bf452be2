internal import Logging
internal import Loop
internal import Push

/// What the dashboard answers, whoever brings the calls.
final class DashboardService: Sendable {
    let parts: DashboardParts
    let source: FleetSource
    let links: ServerLinks
    let doorkeeper: Doorkeeper
    let jobs: JobBoard
    let dead: DeadIndex
    let hub: EventHub
    let actions: ActionLog
    let logger: Logger

    init(_ parts: DashboardParts, logger: Logger) {
        self.parts = parts
        self.logger = logger
        self.links = ServerLinks(parts, logger: logger)
        self.source = FleetSource(parts, links: self.links, logger: logger)
        self.doorkeeper = Doorkeeper(parts.settings)
        self.jobs = JobBoard()
        self.dead = DeadIndex(parts.broker, self.source, jobs: self.jobs)
        self.hub = EventHub(self.source, self.doorkeeper, jobs: self.jobs)
        self.actions = ActionLog(links: self.links, logger: logger)
    }

    /// Bytes of a body that this call may have.
    func bodyLimit(_ call: Call) -> Int {
        guard call.method != "GET" else { return 0 }
        guard let route = Route(path: call.path) else { return Self.strangersLimit }
        // Strangers have nothing long to say.
        return self.doorkeeper.visitor(call, isCall: false) == nil ? Self.strangersLimit : route.bodyLimit
    }

    private static let strangersLimit = 8 << 10

    /// Answers everything but the page's files.
    func answer(_ call: Call) async -> Answer {
        do throws(Problem) {
            return try await self.answerOrFail(call)
        } catch {
            return .problem(error)
        }
    }

    private func answerOrFail(_ call: Call) async throws(Problem) -> Answer {
        if let probe = await self.probe(call) { return probe }
        guard let route = Route(path: call.path) else { throw .notFound("there is no such route") }
        guard route.methods.contains(call.method) else {
            var answer = Answer.problem(
                Problem(
                    status: 405,
                    code: .badRequest,
                    error: "\(call.path) does not take this method",
                    nextStep: "Use \(route.methods.joined(separator: " or "))."
                )
            )
            answer.headers.append(("allow", route.methods.joined(separator: ", ")))
            return answer
        }
        if route == .session, call.method == "POST" { return try await self.logIn(call) }
        // The stream goes on for hours without anybody there: it keeps no session alive.
        guard let visitor = self.doorkeeper.visitor(call, isCall: route != .events) else { throw .notLoggedIn }
        if call.method == "GET" { return try await self.read(route, call, visitor) }
        if let action = route.action { return try await self.act(route, action, call, visitor) }
        guard !Forgery.isForged(call, token: visitor.forgeryToken) else { throw .forged }
        if route == .session { return await self.logOut(visitor, call) }
        return try await self.find(call, visitor)
    }

    // MARK: Without login

    private func probe(_ call: Call) async -> Answer? {
        guard call.method == "GET" else { return nil }
        switch call.path {
        case "/livez": return .text("ok\n")
        case "/readyz":
            let picture = await self.source.picture()
            let obstacles = [
                picture.redisFailure.map { "Redis \($0)\n" }, picture.brokerFailure.map { "RabbitMQ \($0)\n" },
            ].compactMap { $0 }
            // It shows what the other one knows while one of them is away; without both there is nothing to show.
            return .text(obstacles.isEmpty ? "ok\n" : obstacles.joined(), status: obstacles.count < 2 ? 200 : 503)
        case "/metrics":
            var answer = Answer.text(FleetMetrics(await self.source.picture(), version: self.parts.version).text)
            answer.contentType = "text/plain; version=0.0.4; charset=utf-8"
            return answer
        default: return nil
        }
    }

    // MARK: Sessions

    private func logIn(_ call: Call) async throws(Problem) -> Answer {
        guard !Forgery.isForgedLogin(call) else { throw .forged }
        let token = try BodyFields(call.body, only: ["token"]).required("token", bytes: 1...512)
        let address = self.doorkeeper.clientAddress(call)
        do throws(Problem) {
            let (visitor, cookie) = try self.doorkeeper.logIn(token, call)
            await self.actions.write(
                ActionEntry(at: WallClock.now(), user: visitor.user, .login, nil, outcome: "ok"),
                from: address
            )
            var answer = Answer.json(self.report(visitor))
            answer.headers.append(("set-cookie", cookie))
            return answer
        } catch {
            self.logger.warning(
                "a login was refused",
                metadata: ["address": "\(address)", "code": "\(error.code.rawValue)"]
            )
            throw error
        }
    }

    private func logOut(_ visitor: Doorkeeper.Visitor, _ call: Call) async -> Answer {
        let cookie = self.doorkeeper.logOut(visitor, call)
        await self.actions.write(
            ActionEntry(at: WallClock.now(), user: visitor.user, .logout, nil, outcome: "ok"),
            from: self.doorkeeper.clientAddress(call)
        )
        return Answer(status: 204, headers: [("set-cookie", cookie)])
    }

    func report(_ visitor: Doorkeeper.Visitor) -> SessionReport {
        SessionReport(
            user: visitor.user,
            mayAct: visitor.mayAct,
            login: visitor.login,
            csrfToken: visitor.forgeryToken,
            expiresAtMs: visitor.expiresAt?.milliseconds,
            version: self.parts.version,
            fleet: self.parts.settings.fleet
        )
    }
}

/// Who is logged in: `GET /api/session`.
struct SessionReport: Encodable {
    let user: String
    let mayAct: Bool
    let login: Doorkeeper.Visitor.Login
    let csrfToken: String
    let expiresAtMs: Int64?
    let version: String
    let fleet: String?
}
