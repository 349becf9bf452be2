internal import Hummingbird
internal import Push

/// What an app team asks in its tests: was a push sent, and which?
extension ControlRoutes {
    func addPushes(to router: Router<BasicRequestContext>) {
        router.get("/tokens/{token}/last") { request, context in
            let token = try Self.token(context)
            var query = Query(request)
            let topic = query.string("topic")
            let after = UInt64(try query.integer("after", in: 0...Int64.max) ?? 0)
            let wait = try query.span("wait", most: Self.longestWait) ?? .zero
            try query.end()
            let last = try await self.desk.wait(for: token, within: wait) { service, _ in
                service.pushes(to: token, topic: topic, after: after, limit: 1).first
            }
            guard let last else {
                throw ControlError(status: .notFound, problem: "no push to this token was accepted")
            }
            return try Self.json(last)
        }
        router.get("/tokens/{token}/pushes") { request, context in
            let token = try Self.token(context)
            var query = Query(request)
            let topic = query.string("topic")
            let after = UInt64(try query.integer("after", in: 0...Int64.max) ?? 0)
            let limit = Int(try query.integer("limit", in: 1...1000) ?? 100)
            try query.end()
            let pushes = try await self.desk.ask {
                $0.service.pushes(to: token, topic: topic, after: after, limit: limit)
            }
            return try Self.json(["pushes": pushes])
        }
        router.post("/expectations") { request, _ in
            let order = try ExpectationOrder(json: await Self.body(request))
            let result = try await self.desk.wait(for: order.token, within: order.limit) { service, isLast in
                order.result(in: service, isLast: isLast)
            }
            guard let result else { throw ControlError(status: .serviceUnavailable, problem: "it was stopped") }
            return try Self.json(result, status: result.holds ? .ok : .expectationFailed)
        }
    }

    private static let longestWait: Duration = .seconds(60)
}

/// Refuses what a page of another site has a browser send here: the control API knows no passwords.
struct SameOrigin: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let origin = request.headers[.origin], origin != "http://\(request.head.authority ?? "")" {
            throw ControlError(status: .forbidden, problem: "requests from pages of other sites are refused")
        }
        return try await next(request, context)
    }
}
