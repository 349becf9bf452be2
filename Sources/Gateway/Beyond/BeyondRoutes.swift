internal import Foundation
internal import Push
internal import Registry
internal import SNS
internal import Store

/// What Amazon SNS has no call for, as JSON under `/pushfleet/`, signed and allowed like its calls.
///
/// | | |
/// |---|---|
/// | `GET /pushfleet/endpoints?application=<ARN>&token=<hex>` | the endpoint that has the token now |
/// | `GET /pushfleet/endpoints?user=<CustomUserData>[&next=…]` | a user's endpoints |
/// | `GET /pushfleet/subscriptions?endpoint=<ARN>` | an endpoint's subscriptions |
/// | `POST /pushfleet/publish`, `{"user":…,"message":…,"structure":"json","attributes":{…}}` | to a user's devices |
/// | `GET /pushfleet/messages/<id>[?next=… or ?endpoint=<ARN>]` | what became of a publish, see ``MessageLookUp`` |
/// | `DELETE /pushfleet/messages/<id>` | takes a scheduled publish back, if it is not due yet |
/// | `POST /pushfleet/purge?disabled_for=<seconds>` | deletes up to 1000 endpoints that have been disabled for so long |
struct BeyondRoutes: Sendable {
    let run: ActionRun

    static let prefix = "/pushfleet/"

    /// - Returns: nil for a path that is not there.
    func answer(
        _ method: String,
        _ path: String,
        _ query: [String: String],
        body: [UInt8]
    ) async throws(SNSError) -> [UInt8]? {
        switch (method, path.dropFirst(Self.prefix.count)) {
        case ("GET", "endpoints"):
            try self.allow("LookUpEndpoints")
            if let user = query["user"] { return try await self.endpoints(of: user, next: query["next"]) }
            return try await self.endpoint(query)
        case ("GET", "subscriptions"):
            try self.allow("LookUpEndpoints")
            return try await self.subscriptions(query)
        case ("POST", "publish"):
            try self.allow("PublishToUser")
            return try await self.publish(body)
        case ("GET", let path) where path.hasPrefix("messages/"):
            try self.allow("LookUpMessages")
            let lookUp = MessageLookUp(run: self.run)
            return try await lookUp.answer(String(path.dropFirst("messages/".count)), query)
        case ("DELETE", let path) where path.hasPrefix("messages/"):
            try self.allow("CancelMessage")
            return try await self.cancel(String(path.dropFirst("messages/".count)))
        case ("POST", "purge"):
            try self.allow("PurgeEndpoints")
            return try await self.purge(query)
        default: return nil
        }
    }

    /// These concern everything, as listings do.
    private func allow(_ action: String) throws(SNSError) {
        let resource = "arn:aws:sns:\(self.run.settings.region):\(self.run.settings.account):*"
        guard self.run.principal.policy.allows(action, on: [resource]) else {
            throw .notAuthorized(self.run.principal.arn, action: action, resource: resource)
        }
    }

    private func endpoint(_ query: [String: String]) async throws(SNSError) -> [UInt8] {
        guard let token = query["token"], let text = query["application"] else {
            throw .noValue("user, or application and token")
        }
        let arn = try ApplicationARN(text, parameter: "application")
        guard self.run.isOwn(arn) else { throw .noApplication }
        let name = arn.key
        let endpoint = try await self.run.ask { registry, done in
            registry.endpoint(with: EndpointToken(token), of: name, done)
        }
        guard let endpoint else { throw .noEndpoint }
        return Self.json(self.describe(endpoint))
    }

    private func endpoints(of user: String, next: String?) async throws(SNSError) -> [UInt8] {
        var after: [UInt8]?
        if let next, !next.isEmpty {
            guard let bytes = Hex.decode(Array(next.utf8)) else { throw .invalidNextToken() }
            after = bytes
        }
        let start = after
        let page = try await self.run.ask { registry, done in
            registry.endpoints(withUserData: user, after: start, limit: 100, done)
        }
        var answer: [String: Any] = ["endpoints": page.items.map { self.describe($0) }]
        if let next = page.next { answer["next"] = PageToken.encode(next) }
        return Self.json(answer)
    }

    private func subscriptions(_ query: [String: String]) async throws(SNSError) -> [UInt8] {
        guard let text = query["endpoint"] else { throw .noValue("endpoint") }
        let arn = try EndpointARN(text, parameter: "endpoint")
        guard self.run.isOwn(arn.application), let name = arn.key else { throw .noEndpoint }
        let page = try await self.run.ask { registry, done in
            registry.subscriptions(of: name, after: nil, limit: 1000, done)
        }
        let subscriptions = page.items.compactMap { self.run.settings.arn($0.name)?.description }
        return Self.json(["subscriptions": subscriptions])
    }

    private struct UserMessage: Decodable {
        var user: String
        var message: String
        var structure: String?
        var attributes: [String: String]?
    }

    private func publish(_ body: [UInt8]) async throws(SNSError) -> [UInt8] {
        guard let given = try? JSONDecoder().decode(UserMessage.self, from: Data(body)), !given.user.isEmpty else {
            throw .invalidParameter(
                "the body is not an object with user and message, and if need be structure and attributes"
            )
        }
        guard !given.message.isEmpty else { throw .invalidParameter("Empty message") }
        var attributes = MessageAttributes()
        for (name, value) in (given.attributes ?? [:]).sorted(by: { $0.key < $1.key }) {
            attributes.append(name, MessageAttributes.Value(dataType: "String", content: .text(value)))
        }
        let message = SNS.Message(text: given.message, structure: given.structure, attributes: attributes)
        guard message.size <= SNS.Message.sizeLimit else { throw .invalidParameter("Message too long") }
        let order = PublishOrder(message: message, id: .random(), call: nil)
        let user = given.user
        let outcome: Result<Int, SNSError> = await self.run.service.desk.ask { core, completion in
            core.publishing.publish(order, toUser: user, completion)
        }
        return Self.json(["message_id": order.id.description, "devices": try outcome.get()])
    }

    private func cancel(_ id: String) async throws(SNSError) -> [UInt8] {
        let failure = SNSError.notFound("No scheduled message has this id, or it was due more than a day ago")
        guard let name = SNS.UUID(id)?.description else { throw failure }
        let result: Result<ScheduledPush.Cancelling, RedisFailure> = await self.run.service.desk.ask {
            core,
            completion in
            core.redis.run(ScheduledPush.cancel(name)) { completion($0.map(ScheduledPush.cancelling)) }
        }
        switch result {
        case .failure(let failure): throw self.run.service.report(failure)
        case .success(.cancelled): return Self.json(["message_id": name, "state": "cancelled"])
        case .success(.begun):
            throw SNSError("InvalidState", status: 409, "The message was due: its pushes are sent or on their way")
        case .success(.unknown): throw failure
        }
    }

    private func purge(_ query: [String: String]) async throws(SNSError) -> [UInt8] {
        guard let seconds = query["disabled_for"].flatMap({ Int64($0) }), seconds >= 0 else {
            throw .invalidParameter("disabled_for", reason: "must be a whole number of seconds")
        }
        let purged = try await self.run.ask { registry, done in
            registry.purge(disabledFor: .seconds(seconds), limit: 1000, done)
        }
        let endpoints = purged.endpoints.compactMap { self.run.arn($0)?.description }
        return Self.json(["endpoints": endpoints, "has_more": purged.hasMore])
    }

    private func describe(_ endpoint: PlatformEndpoint) -> [String: Any] {
        var members: [String: Any] = [
            "endpoint_arn": self.run.arn(endpoint.name)?.description ?? "", "token": endpoint.token.text,
            "enabled": endpoint.isEnabled, "registered_at": endpoint.registeredAt.iso8601,
        ]
        if let user = endpoint.userData { members["custom_user_data"] = user }
        return members
    }

    private static func json(_ members: [String: Any]) -> [UInt8] {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: members, options: options) else {
            preconditionFailure("text, numbers and truth are always JSON")
        }
        return Array(data)
    }

    /// An error as JSON.
    static func json(_ error: SNSError) -> [UInt8] {
        Self.json(["code": error.code, "message": error.message])
    }
}
