internal import Foundation
internal import Push

/// Everything that can be wrong with one request, in the order in which it is looked at: method, path, duplicate
/// headers, provider token, header syntax, topic, push type, token syntax, body, token state.
///
/// The limits are those of Apple, "Sending notification requests to APNs"; the order is not documented.
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
    var channels = ChannelRegistry(limit: 10_000)
    var unknownChannelDeletion = UnknownChannelDeletion.channelNotRegistered

    /// The verdict, and the number of the provider token when there was one.
    struct Finding: Equatable {
        var verdict: Verdict
        var providerToken: Int?
        /// Whether the provider token was good, whatever became of the push.
        var isAuthorized = false
    }

    mutating func judge(_ request: PushRequest, binding: inout CredentialBinding, at now: UnixTime) -> Finding {
        if request.isBroadcast { return self.judgeBroadcast(request, binding: &binding, at: now) }
        var finding = Finding(verdict: .accepted)
        if let reason = self.shapeRefusal(of: request) {
            finding.verdict = .refused(reason)
            return finding
        }
        let authorization = request.head.authorization.map { request.head[$0] }
        switch self.providerTokens.check(authorization, binding: &binding, topics: self.topics, at: now) {
        case .refused(let reason, let token):
            finding.verdict = .refused(reason)
            finding.providerToken = token
            return finding
        case .accepted(let token, let key):
            finding.providerToken = token
            finding.isAuthorized = true
            if let reason = self.contentRefusal(of: request, key: key, binding: binding) {
                finding.verdict = .refused(reason)
            } else {
                finding.verdict = self.tokens.verdict(token: request.token, topic: request.topic)
            }
            return finding
        }
    }

    private func shapeRefusal(of request: PushRequest) -> Reason? {
        let post: StaticString = "POST"
        let method = UnsafeBufferPointer(start: post.utf8Start, count: post.utf8CodeUnitCount)
        guard request.head[request.head.method].elementsEqual(method) else { return .methodNotAllowed }
        switch request.target {
        case .unknown, .broadcast: return .badPath
        case .missing: return .missingDeviceToken
        case .device: return request.head.hasDuplicates ? .duplicateHeaders : nil
        }
    }

    private func contentRefusal(
        of request: PushRequest,
        key: RegisteredKey,
        binding: CredentialBinding
    ) -> Reason? {
        if request.messageID == .malformed { return .badMessageID }
        if request.expiration == .malformed { return .badExpirationDate }
        if request.priority == .malformed { return .badPriority }
        if request.collapseID.count > 64 { return .badCollapseID }
        let topics = binding.topics ?? self.topics
        if let reason = topics.refusal(of: request.topic, key: key) { return reason }
        if request.pushType == .malformed { return .invalidPushType }
        let type = request.pushType.value
        if let type, !topics.fits(request.topic, type) { return .invalidPushType }
        // "Specifying the priority 10 is an error"; which one is not said. Absent passes, though 10 is the default.
        if type == .background, request.priority == .valid(10) { return .badPriority }
        if request.token.isEmpty || request.token.count > Self.tokenLimit { return .badDeviceToken }
        return self.bodyRefusal(of: request, type: type)
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
