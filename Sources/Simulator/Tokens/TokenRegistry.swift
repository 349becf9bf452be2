package import Push

/// What APNs knows of a device token.
package enum TokenState: Equatable, Sendable {
    case active
    /// Active again since then, after it had been gone: a 410 of an earlier time does not count any more.
    case reregistered(at: UnixTime)
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
        /// nil: both.
        let environment: APNsEnvironment?
        var state: TokenState
        /// From when on a 410 shows; nil: at once.
        var showsAt: UnixTime?
    }

    var unknown: UnknownTokens
    /// How long after a token is gone pushes to it are still accepted. Apple delays its answers on purpose.
    var reportDelay: Duration = .zero
    private var registrations: [UInt64: [Registration]] = [:]

    init(unknown: UnknownTokens) {
        self.unknown = unknown
    }

    /// - Parameters:
    ///   - environment: nil for both.
    ///   - showsAt: from when on a 410 shows; nil for ``reportDelay`` after `now`.
    mutating func set(
        _ token: [UInt8],
        topic: [UInt8]?,
        to state: TokenState,
        environment: APNsEnvironment? = nil,
        showsAt: UnixTime? = nil,
        at now: UnixTime = UnixTime(milliseconds: 0)
    ) {
        let key = Digest.of(token)
        var known = self.registrations[key] ?? []
        known.removeAll { $0.token == token && $0.topic == topic && $0.environment == environment }
        var registration = Registration(token: token, topic: topic, environment: environment, state: state)
        switch state {
        case .unregistered, .expired:
            registration.showsAt = showsAt ?? (self.reportDelay > .zero ? now + self.reportDelay : nil)
        case .active, .reregistered, .otherTopic, .otherEnvironment: break
        }
        known.append(registration)
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
    /// token that is known, but only for other topics or only in the other environment, is not for this one.
    func verdict(
        token: [UInt8],
        topic: ArraySlice<UInt8>,
        environment: APNsEnvironment = .production,
        at now: UnixTime = UnixTime(milliseconds: .max)
    ) -> Verdict {
        guard !self.registrations.isEmpty, let known = self.registrations[Digest.of(token)] else {
            return self.unknown == .accept ? .accepted : .refused(.badDeviceToken)
        }
        var best: (registration: Registration, rank: Int)?
        var isKnown = false
        var isElsewhere = false
        for registration in known where registration.token == token {
            if let only = registration.environment, only != environment {
                isElsewhere = true
                continue
            }
            isKnown = true
            guard registration.topic.map({ $0[...] == topic }) ?? true else { continue }
            let rank = (registration.topic == nil ? 0 : 2) + (registration.environment == nil ? 0 : 1)
            if best.map({ $0.rank <= rank }) ?? true { best = (registration, rank) }
        }
        guard let found = best?.registration else {
            if isKnown { return .refused(.deviceTokenNotForTopic) }
            return isElsewhere || self.unknown == .refuse ? .refused(.badDeviceToken) : .accepted
        }
        if let time = found.showsAt, now < time { return .accepted }
        return switch found.state {
        case .active, .reregistered: .accepted
        case .unregistered(let time): .refused(.unregistered, at: time)
        case .expired(let time): .refused(.expiredToken, at: time)
        case .otherTopic: .refused(.deviceTokenNotForTopic)
        case .otherEnvironment: .refused(.badDeviceToken)
        }
    }
}
