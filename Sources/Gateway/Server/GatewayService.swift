internal import Foundation
internal import Logging
internal import Loop
internal import Push
internal import Registry
internal import SNS
internal import Store

/// What the gateway answers, whoever brings the requests.
final class GatewayService: Sendable {
    let settings: GatewaySettings
    let desk: GatewayDesk
    let metrics: Metrics
    let outside: GatewayOutside
    let topology: TopologyKeeper
    let logger: Logger
    let access: AccessBook

    init(
        _ settings: GatewaySettings,
        desk: GatewayDesk,
        outside: GatewayOutside,
        metrics: Metrics,
        topology: TopologyKeeper,
        logger: Logger
    ) {
        self.settings = settings
        self.desk = desk
        self.outside = outside
        self.metrics = metrics
        self.topology = topology
        self.logger = logger
        self.access = AccessBook(settings)
    }

    // MARK: Probes

    /// `/livez`, `/readyz`, `/metrics`.
    func probe(_ path: String) async -> OutgoingAnswer {
        switch path {
        case "/metrics":
            var answer = OutgoingAnswer.text(self.metrics.text)
            answer.contentType = "text/plain; version=0.0.4; charset=utf-8"
            return answer
        case "/readyz":
            let obstacles = await self.desk.ask { core, completion in completion(core.obstacles) }
            guard !obstacles.isEmpty else { return .text("ok\n") }
            return .text(obstacles.map { $0 + "\n" }.joined(), status: 503)
        default: return .text("ok\n")
        }
    }

    // MARK: Calls

    func tooLarge() -> OutgoingAnswer {
        let error = SNSError("MalformedInput", status: 413, "The request is larger than 1 MiB.")
        var answer = self.answer(.failure(error), as: .xml, action: "unknown", since: MonotonicClock.now())
        answer.closes = true
        return answer
    }

    func answer(_ request: IncomingRequest) async -> OutgoingAnswer {
        guard !request.path.hasPrefix(BeyondRoutes.prefix) else { return await self.answerBeyond(request) }
        var action = "unknown"
        var format = AnswerFormat.xml
        let result: Result<Answer, SNSError>
        do throws(SNSError) {
            let caller: Caller
            if let principal = UnsignedCall.principal(request, self.settings) {
                caller = Caller(principal: principal, bodyHash: [])
            } else {
                caller = try await self.caller(of: request)
            }
            let parameters = try Parameters(query: Array(request.query.utf8), body: request.formBody)
            format = AnswerFormat(parameters)
            action = try Action.name(parameters).rawValue
            let call = try Action(parameters, region: self.settings.region)
            try caller.principal.check(call, region: self.settings.region, account: self.settings.account)
            let run = ActionRun(service: self, principal: caller.principal, call: Self.call(request, caller))
            result = .success(try await run.run(call))
        } catch {
            result = .failure(error)
        }
        return self.answer(result, as: format, action: action, since: request.time)
    }

    /// What SNS has no call for.
    private func answerBeyond(_ request: IncomingRequest) async -> OutgoingAnswer {
        let id = SNS.UUID.random()
        var answer = OutgoingAnswer(status: 200, contentType: "application/json", body: [], requestID: id.description)
        var code = "200"
        do throws(SNSError) {
            let caller = try await self.caller(of: request)
            let run = ActionRun(service: self, principal: caller.principal, call: nil)
            let query = Self.query(request.query)
            let body = try await BeyondRoutes(run: run).answer(
                request.method,
                request.path,
                query,
                body: request.body
            )
            guard let body else { throw .notFound("There is nothing at \(request.method) \(request.path)") }
            answer.body = body
        } catch {
            code = error.code
            answer.status = error.status
            answer.body = BeyondRoutes.json(error)
        }
        self.metrics.answered("pushfleet", code: code, after: MonotonicClock.now() - request.time)
        return answer
    }

    private static func query(_ text: String) -> [String: String] {
        let items = URLComponents(string: "/?" + text)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { _, last in last })
    }

    private func answer(
        _ result: Result<Answer, SNSError>,
        as format: AnswerFormat,
        action: String,
        since start: MonotonicTime
    ) -> OutgoingAnswer {
        let id = SNS.UUID.random()
        let duration = MonotonicClock.now() - start
        var answer = OutgoingAnswer(status: 200, contentType: format.contentType, body: [], requestID: id.description)
        switch result {
        case .success(let outcome):
            self.metrics.answered(action, code: "200", after: duration)
            answer.body = outcome.body(requestID: id, as: format)
        case .failure(let error):
            self.metrics.answered(action, code: error.code, after: duration)
            self.logger.debug("refused", metadata: ["action": "\(action)", "code": "\(error.code)"])
            answer.status = error.status
            answer.body = error.body(requestID: id, as: format)
        }
        return answer
    }

    // MARK: Who calls

    private struct Caller {
        let principal: Principal
        let bodyHash: [UInt8]
    }

    private func caller(of request: IncomingRequest) async throws(SNSError) -> Caller {
        let hash = SignedRequest.sha256(request.body)
        let signed = SignedRequest(
            method: request.method,
            path: request.path,
            query: request.query,
            headers: request.headers,
            bodySHA256: hash,
            isTLS: self.settings.tls != nil
        )
        if self.settings.allowsAnonymous, !signed.isSigned {
            let arn = "arn:aws:iam::\(self.settings.account):user/anonymous"
            return Caller(principal: Principal(arn: arn, accessKeyID: nil, policy: .all), bodyHash: hash)
        }
        let known = self.access.signatures
        var keys = known.keys
        let principal = try known.check.principal(of: signed, now: WallClock.now(), signingKeys: &keys)
        if keys.count != known.keys.count { self.access.keep(keys, derivedBy: known.check) }
        guard await self.mayCall(principal.accessKeyID ?? "", at: request.time) else { throw .throttling }
        return Caller(principal: principal, bodyHash: hash)
    }

    private func mayCall(_ key: String, at now: MonotonicTime) async -> Bool {
        switch self.access.rate.takes(key, at: now) {
        case .go: return true
        case .refused: return false
        case .ask(let count, let limit):
            let taken: Int? = await self.desk.ask { core, completion in
                core.redis.run(CallPermits.take(count, of: limit, key: key)) { result in
                    completion((try? result.get())?.integer.map(Int.init))
                }
            }
            return self.access.rate.took(taken, of: key, at: MonotonicClock.now())
        }
    }

    /// What all attempts of one call have in common; SDKs send an id with each.
    private static func call(_ request: IncomingRequest, _ caller: Caller) -> PublishCall? {
        guard let invocation = request.header("amz-sdk-invocation-id"), (1...128).contains(invocation.utf8.count),
            invocation.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") })
        else { return nil }
        return PublishCall(
            accessKey: caller.principal.accessKeyID ?? "anonymous",
            invocation: invocation,
            bodyHash: Hex.encode(caller.bodyHash)
        )
    }

    // MARK: For actions

    func report(_ failure: RedisFailure) -> SNSError {
        self.metrics.add(.redisFailures)
        self.logger.warning("Redis did not answer", metadata: ["reason": "\(failure)"])
        return .unavailable
    }

    /// Tells an event to whom the application names; nobody waits for it.
    func tell(_ kind: ApplicationEvent.Kind, _ endpoint: EndpointName) async {
        await self.desk.ask { core, completion in
            core.events.tell(kind, endpoint)
            completion(())
        }
    }
}

extension IncomingRequest {
    /// The parameters in the body; a GET has none.
    var formBody: [UInt8] { self.method == "POST" ? self.body : [] }
}
