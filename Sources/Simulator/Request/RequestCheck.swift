internal import Foundation
internal import Push

/// Everything that can be wrong with one request, in the order in which it is looked at; see ``CheckStep``.
///
/// The limits are those of Apple, "Sending notification requests to APNs".
struct RequestCheck: Sendable {
    /// What is done with a body that is no JSON object; Apple names no reason for it on `/3/device`.
    enum MalformedBody: String, CaseIterable, Sendable {
        case accept
        /// 400 `BadRequestPayload`, the reason that the broadcast service documents.
        case refuse
    }

    var topics: TopicRules
    var malformedBody: MalformedBody
    var providerTokens: ProviderTokenCheck
    var tokens: TokenRegistry
    var order = CheckStep.allCases
    var channels = ChannelRegistry(limit: 10_000)
    var unknownChannelDeletion = UnknownChannelDeletion.channelNotRegistered

    /// The verdict, and the number of the provider token when there was one.
    struct Finding: Equatable {
        var verdict: Verdict
        var providerToken: Int?
        /// Whether the provider token was good, whatever became of the push.
        var isAuthorized = false
    }

    /// What one request is judged with.
    private struct Case {
        let now: VirtualClock.Moment
        var key: RegisteredKey?
        /// The topics that were looked at before there was a key, and so must be looked at once more.
        var hasTopic = false
        var finding = Finding(verdict: .accepted)
    }

    mutating func judge(
        _ request: PushRequest,
        binding: inout CredentialBinding,
        buckets: inout TokenBuckets,
        at now: VirtualClock.Moment
    ) -> Finding {
        if request.isBroadcast { return self.judgeBroadcast(request, binding: &binding, at: now.wall) }
        var open = Case(now: now)
        for step in self.order {
            guard let verdict = self.look(step, at: request, &open, &binding, &buckets) else { continue }
            open.finding.verdict = verdict
            break
        }
        return open.finding
    }

    /// - Returns: nil when nothing is wrong.
    private mutating func look(
        _ step: CheckStep,
        at request: PushRequest,
        _ open: inout Case,
        _ binding: inout CredentialBinding,
        _ buckets: inout TokenBuckets
    ) -> Verdict? {
        switch step {
        case .method: return Self.isPost(request) ? nil : .refused(.methodNotAllowed)
        case .path:
            return switch request.target {
            case .unknown, .broadcast: .refused(.badPath)
            case .missing: .refused(.missingDeviceToken)
            case .device: nil
            }
        case .duplicates: return request.head.hasDuplicates ? .refused(.duplicateHeaders) : nil
        case .authorization: return self.authorize(request, &open, &binding)
        case .headers: return Self.headerRefusal(of: request).map { .refused($0) }
        case .topic:
            if let certificate = binding.certificate {
                return ClientCertificateCheck.refusal(of: request.topic, certificate).map { .refused($0) }
            }
            open.hasTopic = true
            let topics = binding.topics ?? self.topics
            return topics.refusal(of: request.topic, key: open.key).map { .refused($0) }
        case .pushType: return self.typeRefusal(of: request, binding: binding).map { .refused($0) }
        case .token:
            let isToken = !request.token.isEmpty && request.token.count <= Self.tokenLimit
            return isToken ? nil : .refused(.badDeviceToken)
        case .body: return self.bodyRefusal(of: request, type: request.pushType.value).map { .refused($0) }
        case .tokenState:
            let verdict = self.tokens.verdict(
                token: request.token,
                topic: request.topic,
                environment: self.providerTokens.settings.environment,
                at: open.now.wall
            )
            guard verdict.isAccepted else { return verdict }
            guard buckets.rate != nil else { return nil }
            return buckets.admit(request.token, at: open.now.monotonic) ? nil : .refused(.tooManyRequests)
        }
    }

    private mutating func authorize(
        _ request: PushRequest,
        _ open: inout Case,
        _ binding: inout CredentialBinding
    ) -> Verdict? {
        guard binding.certificate == nil else {
            open.finding.isAuthorized = true
            return nil
        }
        let authorization = request.head.authorization.map { request.head[$0] }
        let result = self.providerTokens.check(authorization, binding: &binding, topics: self.topics, at: open.now.wall)
        switch result {
        case .refused(let reason, let token):
            open.finding.providerToken = token
            return .refused(reason)
        case .accepted(let token, let key):
            open.finding.providerToken = token
            open.finding.isAuthorized = true
            open.key = key
            guard open.hasTopic else { return nil }
            return (binding.topics ?? self.topics).refusal(of: request.topic, key: key).map { .refused($0) }
        }
    }

    private static func isPost(_ request: PushRequest) -> Bool {
        let post: StaticString = "POST"
        let method = UnsafeBufferPointer(start: post.utf8Start, count: post.utf8CodeUnitCount)
        return request.head[request.head.method].elementsEqual(method)
    }

    private static func headerRefusal(of request: PushRequest) -> Reason? {
        if request.messageID == .malformed { return .badMessageID }
        if request.expiration == .malformed { return .badExpirationDate }
        if request.priority == .malformed { return .badPriority }
        return request.collapseID.count > 64 ? .badCollapseID : nil
    }

    private func typeRefusal(of request: PushRequest, binding: CredentialBinding) -> Reason? {
        if request.pushType == .malformed { return .invalidPushType }
        guard let type = request.pushType.value else { return nil }
        if !(binding.topics ?? self.topics).fits(request.topic, type) { return .invalidPushType }
        // "Specifying the priority 10 is an error"; which one is not said. Absent passes, though 10 is the default.
        return type == .background && request.priority == .valid(10) ? .badPriority : nil
    }

    private func bodyRefusal(of request: PushRequest, type: PushKind?) -> Reason? {
        if request.bodySize == 0 { return .payloadEmpty }
        let suffix = PushKind.voip.topicSuffix.utf8
        let isVoIP = type == nil && request.topic.suffix(suffix.count).elementsEqual(suffix)
        if request.bodySize > (isVoIP ? .voip : type ?? .alert).bodyLimit { return .payloadTooLarge }
        guard self.malformedBody == .refuse else { return nil }
        let object = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
        return object == nil ? .badRequestPayload : nil
    }

    /// Bytes; Apple sets none, and the longest seen have about 80.
    private static let tokenLimit = 256
}
