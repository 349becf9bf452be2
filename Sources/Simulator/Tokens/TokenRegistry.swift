package import Push

/// What APNs knows of a device token.
package enum TokenState: Equatable, Sendable {
    case active
    /// The app is gone from the device; 410 `Unregistered` with this time.
    case unregistered(at: UnixTime)
    /// 410 `ExpiredToken` with this time.
    case expired(at: UnixTime)
    /// The token is another app's: 400 `DeviceTokenNotForTopic`.
    case otherTopic
    /// The token is of the other environment: 400 `BadDeviceToken`.
    case otherEnvironment
}

/// How a simulator answers for tokens it has never been told of.
package enum UnknownTokens: String, CaseIterable, Sendable {
    /// They are active.
    case accept
    /// 400 `BadDeviceToken`.
    case refuse
}

/// The device tokens, each with the topics it is known for.
struct TokenRegistry: Sendable {
    struct Registration: Sendable {
        let token: [UInt8]
        /// nil: whatever the topic.
        let topic: [UInt8]?
        var state: TokenState
    }

    var unknown: UnknownTokens
    private var registrations: [UInt64: [Registration]] = [:]

    init(unknown: UnknownTokens) {
        self.unknown = unknown
    }

    mutating func set(_ token: [UInt8], topic: [UInt8]?, to state: TokenState) {
        let key = Digest.of(token)
        var known = self.registrations[key] ?? []
        if let index = known.firstIndex(where: { $0.token == token && $0.topic == topic }) {
            known[index].state = state
        } else {
            known.append(Registration(token: token, topic: topic, state: state))
        }
        self.registrations[key] = known
    }

    /// Everything known of one token.
    func registrations(of token: [UInt8]) -> [Registration] {
        self.registrations[Digest.of(token)]?.filter { $0.token == token } ?? []
    }

    mutating func removeAll() {
        self.registrations.removeAll()
    }

    /// Judges a push to `token`: what is registered for the topic decides, then what is registered for any topic. A
    /// token that is known, but only for other topics, is not for this one.
    func verdict(token: [UInt8], topic: ArraySlice<UInt8>) -> Verdict {
        guard !self.registrations.isEmpty, let known = self.registrations[Digest.of(token)] else {
            return self.unknown == .accept ? .accepted : .refused(.badDeviceToken)
        }
        var state: TokenState?
        var isKnown = false
        for registration in known where registration.token == token {
            isKnown = true
            if let own = registration.topic {
                if own[...] == topic {
                    state = registration.state
                    break
                }
            } else {
                state = registration.state
            }
        }
        switch state {
        case .active?: return .accepted
        case .unregistered(let time)?: return .refused(.unregistered, at: time)
        case .expired(let time)?: return .refused(.expiredToken, at: time)
        case .otherTopic?: return .refused(.deviceTokenNotForTopic)
        case .otherEnvironment?: return .refused(.badDeviceToken)
        case nil where isKnown: return .refused(.deviceTokenNotForTopic)
        case nil: return self.unknown == .accept ? .accepted : .refused(.badDeviceToken)
        }
    }
}
