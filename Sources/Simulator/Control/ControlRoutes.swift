internal import Foundation
internal import Hummingbird
internal import Loop
internal import Push

/// What the control API answers, path by path.
struct ControlRoutes: Sendable {
    let desk: SimulatorDesk

    /// Every method and path that it answers, such as `GET /tokens/{token}`.
    var operations: [String] { self.router.routes.map { "\($0.method) \($0.path)" } }

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: ControlErrors())
        router.add(middleware: SameOrigin())
        self.addQueries(to: router)
        self.addTokens(to: router)
        self.addPushes(to: router)
        self.addRules(to: router)
        self.addSwitches(to: router)
        self.addChannels(to: router)
        self.addPage(to: router)
        return router
    }

    private func addQueries(to router: Router<BasicRequestContext>) {
        router.get("/status") { request, _ in
            try Query(request).end()
            return try Self.json(try await self.desk.ask { ControlStatus($0) })
        }
        router.get("/ledger") { request, _ in
            let filter = try LedgerFilter(query: Query(request))
            return try Self.json(["entries": try await self.desk.ask { $0.service.records(filter) }])
        }
        router.get("/ledger/summary") { request, _ in
            try Query(request).end()
            return try Self.json(try await self.desk.ask { $0.summary })
        }
        router.delete("/ledger") { request, _ in
            try Query(request).end()
            try await self.desk.ask { $0.service.forgetRequests() }
            return try Self.json(ControlValue.object([:]))
        }
        router.get("/scenario") { request, _ in
            try Query(request).end()
            guard let report = try await self.desk.ask({ ScenarioReport($0) }) else {
                throw ControlError(status: .notFound, problem: "no scenario is played")
            }
            return try Self.json(report)
        }
        router.post("/ledger/compare") { request, _ in
            let order = try ComparisonOrder(json: await Self.body(request, upTo: 64 << 20))
            return try Self.json(try await self.desk.ask { order.compare(with: $0.service.ledger) })
        }
        router.get("/connections") { request, _ in
            var query = Query(request)
            let limit = try query.integer("limit", in: 1...10_000) ?? 1000
            try query.end()
            let records = try await self.desk.ask { $0.connectionRecords(limit: Int(limit)) }
            return try Self.json(["connections": records])
        }
    }

    private func addTokens(to router: Router<BasicRequestContext>) {
        router.get("/tokens/{token}") { request, context in
            try Query(request).end()
            let token = try Self.token(context)
            return try Self.json(try await self.desk.ask { TokenReport($0.service, token: token) })
        }
        router.get("/tokens/{token}/device") { request, context in
            try Query(request).end()
            let token = try Self.token(context)
            return try Self.json(try await self.desk.ask { $0.service.device(token, at: $0.moment.wall) })
        }
        router.put("/tokens/{token}") { request, context in
            let token = try Self.token(context)
            let order = try TokenOrder(json: await Self.body(request))
            let report = try await self.desk.ask { server in
                order.apply(to: token, of: &server.service, at: server.moment.wall)
                return TokenReport(server.service, token: token)
            }
            return try Self.json(report)
        }
    }

    private func addRules(to router: Router<BasicRequestContext>) {
        router.get("/rules") { request, _ in
            try Query(request).end()
            let uses = try await self.desk.ask { $0.service.faults.uses }
            return try Self.json(["rules": uses.map(\.json)])
        }
        router.post("/rules") { request, _ in
            let rule = try FaultRule(json: await Self.body(request))
            if let problem = try await self.desk.ask({ $0.problem(with: rule) }) { throw problem }
            guard let id = try await self.desk.ask({ $0.addRule(rule) }) else {
                throw ControlError(status: .conflict, problem: "too many rules since the start")
            }
            return try Self.json(["id": id], status: .created)
        }
        router.delete("/rules") { request, _ in
            try Query(request).end()
            try await self.desk.ask { $0.service.removeRules() }
            return try Self.json(ControlValue.object([:]))
        }
        router.delete("/rules/{id}") { _, context in
            let id = try context.parameters.require("id")
            guard try await self.desk.ask({ $0.service.removeRule(id) }) else {
                throw ControlError(status: .notFound, problem: "there is no such rule")
            }
            return try Self.json(ControlValue.object([:]))
        }
    }

    private func addSwitches(to router: Router<BasicRequestContext>) {
        router.post("/keys") { request, _ in
            let key = try ProviderKey(json: await Self.body(request))
            let isGood = try await self.desk.ask { server in (try? server.service.addKey(key)) != nil }
            guard isGood else {
                throw BadField(field: "public_key", problem: "must be PEM of a P-256 public key")
            }
            return try Self.json(["id": key.id], status: .created)
        }
        router.delete("/keys/{kid}") { _, context in
            let id = try context.parameters.require("kid")
            guard try await self.desk.ask({ $0.service.revokeKey(id) }) else {
                throw ControlError(status: .notFound, problem: "there is no such key")
            }
            return try Self.json(ControlValue.object([:]))
        }
        router.post("/keys/{kid}/restore") { request, context in
            let id = try context.parameters.require("kid")
            try Fields(await Self.body(request)).end()
            guard try await self.desk.ask({ $0.service.restoreKey(id) }) else {
                throw ControlError(status: .notFound, problem: "there is no such key that was revoked")
            }
            return try Self.json(ControlValue.object([:]))
        }
        router.post("/connections/goaway") { request, _ in
            var fields = try Fields(await Self.body(request))
            var goAway = try GoAwayOrder(&fields)
            let form = try FaultRule.GoAwayForm(&fields)
            try fields.end()
            if goAway.debugData.isEmpty { goAway.debugData = "{\"reason\":\"Shutdown\"}" }
            let farewell = Farewell(
                code: goAway.code,
                debugData: Array(goAway.debugData.utf8),
                lastStream: goAway.lastStream,
                form: form
            )
            let count = try await self.desk.ask { $0.goAwayAll(farewell) }
            return try Self.json(["connections": count])
        }
        router.post("/connections/drop") { request, _ in
            try Fields(await Self.body(request)).end()
            return try Self.json(["connections": try await self.desk.ask { $0.dropAll() }])
        }
        router.post("/settings") { request, _ in
            let order = try SettingsOrder(json: await Self.body(request))
            return try Self.json(
                try await self.desk.ask { server in
                    order.apply(to: server)
                    return ControlStatus(server)
                }
            )
        }
        router.get("/clock") { request, _ in
            try Query(request).end()
            return try Self.json(try await self.desk.ask { ClockReport($0) })
        }
        router.post("/clock") { request, _ in
            let order = try ClockOrder(json: await Self.body(request))
            return try Self.json(
                try await self.desk.ask { server in
                    order.apply(to: server)
                    return ClockReport(server)
                }
            )
        }
        router.post("/reset") { request, _ in
            try Fields(await Self.body(request)).end()
            try await self.desk.ask { $0.reset() }
            return try Self.json(ControlValue.object([:]))
        }
    }

    // MARK: In and out

    /// The device token in a path.
    static func token(_ context: BasicRequestContext) throws -> [UInt8] {
        let text = try context.parameters.require("token")
        guard let token = Hex.decode(Array(text.utf8)), !token.isEmpty else {
            throw BadField(field: "token", problem: "must be an even number of hexadecimal digits")
        }
        return token
    }

    /// The request's JSON; nothing at all is an empty object.
    static func body(_ request: Request, upTo limit: Int = 1 << 20) async throws -> ControlValue {
        try Query(request).end()
        let buffer = try await request.body.collect(upTo: limit)
        guard buffer.readableBytes > 0 else { return .object([:]) }
        guard let value = try? JSONDecoder().decode(ControlValue.self, from: Data(buffer.readableBytesView)) else {
            throw BadField(field: "body", problem: "must be JSON")
        }
        return value
    }

    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes = Array(try encoder.encode(value))
        bytes.append(UInt8(ascii: "\n"))
        return Response(
            status: status,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}

/// A request that is well-formed and still cannot be met.
struct ControlError: Error {
    let status: HTTPResponse.Status
    let problem: String
}

/// Makes every error a JSON object with `error` and, where one is at fault, `field`.
struct ControlErrors: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as BadField {
            return try ControlRoutes.json(["error": error.problem, "field": error.field], status: .badRequest)
        } catch let error as ControlError {
            return try ControlRoutes.json(["error": error.problem], status: error.status)
        } catch let error as SimulatorError {
            return try ControlRoutes.json(["error": error.description], status: .serviceUnavailable)
        } catch let error as any HTTPResponseError {
            let problem = error.status == .notFound ? "there is nothing here" : error.status.reasonPhrase
            return try ControlRoutes.json(["error": problem], status: error.status)
        }
    }
}
