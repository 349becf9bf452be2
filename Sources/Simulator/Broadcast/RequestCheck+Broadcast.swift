internal import APNs
internal import Foundation
internal import Push

/// What can be wrong with `POST /4/broadcasts/apps/<bundle id>`.
///
/// Source: Apple, "Sending broadcast push notification requests to APNs" and "Handling error responses from APNs". The
/// order is not documented.
extension RequestCheck {
    mutating func judgeBroadcast(
        _ request: PushRequest,
        binding: inout CredentialBinding,
        at now: UnixTime
    ) -> Finding {
        var finding = Finding(verdict: .accepted)
        guard request.head[request.head.method].elementsEqual("POST".utf8) else {
            finding.verdict = .refused(.methodNotAllowed)
            return finding
        }
        if let certificate = binding.certificate {
            finding.isAuthorized = true
            let reason = Self.refusal(of: request) { TopicRules.refusal(ofBundleID: $0, certificate) }
            if let reason = reason ?? self.channelRefusal(of: request) { finding.verdict = .refused(reason) }
            return finding
        }
        let authorization = request.head.authorization.map { request.head[$0] }
        switch self.providerTokens.check(authorization, binding: &binding, topics: self.topics, at: now) {
        case .refused(let reason, let token):
            finding.verdict = .refused(reason)
            finding.providerToken = token
        case .accepted(let token, let key):
            finding.providerToken = token
            finding.isAuthorized = true
            let topics = binding.topics ?? self.topics
            let reason = Self.refusal(of: request) { topics.refusal(ofBundleID: $0, key: key) }
            if let reason = reason ?? self.channelRefusal(of: request) { finding.verdict = .refused(reason) }
        }
        return finding
    }

    /// - Parameter topicRefusal: why the sender may not broadcast for a bundle id; nil if it may.
    private static func refusal(
        of request: PushRequest,
        topicRefusal: (ArraySlice<UInt8>) -> Reason?
    ) -> Reason? {
        self.broadcastHeaderRefusal(of: request) ?? topicRefusal(request.topic)
            ?? self.broadcastBodyRefusal(of: request)
    }

    private static func broadcastHeaderRefusal(of request: PushRequest) -> Reason? {
        if request.messageID == .malformed { return .badMessageID }
        guard let channel = request.head.channelID else { return .missingChannelID }
        guard ChannelID.isValid(String(decoding: request.head[channel], as: UTF8.self)) else { return .badChannelID }
        guard let type = request.head.pushType else { return .missingPushType }
        // The page prints it in two ways.
        guard String(decoding: request.head[type], as: UTF8.self).lowercased() == "liveactivity" else {
            return .invalidPushType
        }
        guard case .valid = request.expiration else { return .badExpirationDate }
        guard request.priority == .valid(5) || request.priority == .valid(10) else { return .badPriority }
        return nil
    }

    private static func broadcastBodyRefusal(of request: PushRequest) -> Reason? {
        if request.bodySize == 0 { return .payloadEmpty }
        if request.bodySize > Contract.broadcastPayloadLimit { return .payloadTooLarge }
        let object = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
        return object == nil ? .badRequestPayload : nil
    }

    private func channelRefusal(of request: PushRequest) -> Reason? {
        guard let channel = self.channels.channel(request.token[...], of: request.topic) else {
            return .channelNotRegistered
        }
        return channel.storage == .none && request.expiration != .valid(0) ? .badExpirationDate : nil
    }
}

extension TopicRules {
    /// Why nobody may broadcast for `bundleID` under `key`, or nil. A topic's suffix is not part of a bundle id.
    func refusal(ofBundleID bundleID: ArraySlice<UInt8>, key: RegisteredKey) -> Reason? {
        guard Self.isBundleID(bundleID) else { return .topicDisallowed }
        return self.refusal(of: bundleID, key: key).map { $0 == .badTopic ? .topicDisallowed : $0 }
    }

    /// The same for a connection with a certificate: the bundle id itself must be among its topics.
    static func refusal(ofBundleID bundleID: ArraySlice<UInt8>, _ certificate: ClientCertificate) -> Reason? {
        guard Self.isBundleID(bundleID) else { return .topicDisallowed }
        return certificate.covers(String(decoding: bundleID, as: UTF8.self)) ? nil : .topicMismatch
    }

    private static func isBundleID(_ topic: ArraySlice<UInt8>) -> Bool {
        let hasSuffix = PushKind.suffixed.contains { type in
            topic.suffix(type.topicSuffix.utf8.count).elementsEqual(type.topicSuffix.utf8)
        }
        return !hasSuffix && !topic.isEmpty
    }
}
