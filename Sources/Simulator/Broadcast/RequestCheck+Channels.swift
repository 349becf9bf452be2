internal import Foundation
internal import Push

/// The channel management API: create, read, delete and list.
///
/// Source: Apple, "Sending channel management requests to APNs" and "Handling error responses from APNs".
extension RequestCheck {
    /// How the deletion of a channel that does not exist is answered; nobody knows which.
    enum UnknownChannelDeletion: String, CaseIterable, Sendable {
        /// 400 `ChannelNotRegistered`.
        case channelNotRegistered = "channel_not_registered"
        /// 404 `BadPath`.
        case badPath = "bad_path"
    }

    mutating func manage(
        _ request: ChannelRequest,
        binding: inout CredentialBinding,
        random: inout SeededRandom,
        at now: UnixTime
    ) -> ChannelAnswer {
        let own = request.requestID.map { MessageID(Array($0.utf8)) }
        let made = MessageID(high: random.next(), low: random.next())
        var answer = own == .some(nil) ? .refused(.badMessageID) : self.answer(request, &binding, &random, at: now)
        answer.requestID = own.flatMap { $0?.text() } ?? made.text(upperCase: true)
        return answer
    }

    private mutating func answer(
        _ request: ChannelRequest,
        _ binding: inout CredentialBinding,
        _ random: inout SeededRandom,
        at now: UnixTime
    ) -> ChannelAnswer {
        let bundleID: [UInt8]
        switch (request.target, request.method) {
        case (.unknown, _): return .refused(.badPath)
        case (.channels(let name), "POST"), (.channels(let name), "GET"), (.channels(let name), "DELETE"),
            (.allChannels(let name), "GET"):
            bundleID = Array(name.utf8)
        default: return .refused(.methodNotAllowed)
        }
        if let reason = self.refusal(of: request, forBundleID: bundleID[...], &binding, at: now) {
            return .refused(reason)
        }
        if case .allChannels = request.target { return self.list(bundleID[...]) }
        if request.method == "POST" { return self.create(request.body, for: bundleID[...], &random) }
        guard let id = request.channelID else { return .refused(.missingChannelID) }
        guard ChannelID.isValid(id) else { return .refused(.badChannelID) }
        guard request.method == "GET" else { return self.delete(Array(id.utf8), of: bundleID[...]) }
        guard let channel = self.channels.channel(Array(id.utf8)[...], of: bundleID[...]) else {
            return .refused(.channelNotRegistered)
        }
        let body = "{\"message-storage-policy\":\(channel.storage.rawValue),\"push-type\":\"LiveActivity\"}"
        return ChannelAnswer(status: 200, body: Array(body.utf8))
    }

    /// Why the sender may not manage the app's channels; nil if it may.
    private mutating func refusal(
        of request: ChannelRequest,
        forBundleID bundleID: ArraySlice<UInt8>,
        _ binding: inout CredentialBinding,
        at now: UnixTime
    ) -> Reason? {
        if let certificate = binding.certificate { return TopicRules.refusal(ofBundleID: bundleID, certificate) }
        let authorization = request.authorization.map { $0[...] }
        switch self.providerTokens.check(authorization, binding: &binding, topics: self.topics, at: now) {
        case .refused(let reason, _): return reason
        case .accepted(_, let key): return (binding.topics ?? self.topics).refusal(ofBundleID: bundleID, key: key)
        }
    }

    private func list(_ bundleID: ArraySlice<UInt8>) -> ChannelAnswer {
        let ids = self.channels.all(of: bundleID).map { "\"\(String(decoding: $0.id, as: UTF8.self))\"" }
        return ChannelAnswer(status: 200, body: Array("{\"channels\":[\(ids.joined(separator: ","))]}".utf8))
    }

    private mutating func create(
        _ body: [UInt8],
        for bundleID: ArraySlice<UInt8>,
        _ random: inout SeededRandom
    ) -> ChannelAnswer {
        guard !body.isEmpty else { return .refused(.payloadEmpty) }
        guard let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
            return .refused(.badRequestPayload)
        }
        guard let type = object["push-type"] else { return .refused(.missingPushType) }
        guard (type as? String)?.lowercased() == "liveactivity" else { return .refused(.invalidPushType) }
        guard let number = object["message-storage-policy"] as? Int, let storage = ChannelStorage(rawValue: number)
        else { return .refused(.badRequestParams) }
        let id = Data((0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }).base64EncodedString()
        guard self.channels.add(.init(id: Array(id.utf8), storage: storage), to: bundleID) else {
            return .refused(.cannotCreateChannelConfig)
        }
        return ChannelAnswer(status: 201, channelID: id)
    }

    private mutating func delete(_ id: [UInt8], of bundleID: ArraySlice<UInt8>) -> ChannelAnswer {
        guard self.channels.remove(id[...], of: bundleID) else {
            return .refused(self.unknownChannelDeletion == .badPath ? .badPath : .channelNotRegistered)
        }
        return ChannelAnswer(status: 204)
    }
}
