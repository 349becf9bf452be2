internal import SNS
internal import Synchronization

/// Who may call, and what opens the credentials in Redis: what may change while a gateway runs.
final class AccessBook: Sendable {
    let rate: CallRate
    private let settings: GatewaySettings
    private let current: Mutex<Current>

    private struct Current {
        var check: SignatureCheck
        var signingKeys = SigningKeys()
        var applications: ApplicationDesk
    }

    init(_ settings: GatewaySettings) {
        self.settings = settings
        self.rate = CallRate(settings.keys)
        self.current = Mutex(Current(check: settings.check, applications: ApplicationDesk(settings)))
    }

    /// From now on only these keys may call.
    func use(_ changed: GatewaySettings) {
        var settings = self.settings
        settings.keys = changed.keys
        settings.masterKeys = changed.masterKeys
        let fresh = Current(check: settings.check, applications: ApplicationDesk(settings))
        self.current.withLock { $0 = fresh }
        self.rate.use(settings.keys)
    }

    var applications: ApplicationDesk { self.current.withLock { $0.applications } }

    /// The check of signatures, and the keys derived for it so far.
    var signatures: (check: SignatureCheck, keys: SigningKeys) {
        self.current.withLock { ($0.check, $0.signingKeys) }
    }

    /// Keeps derived keys; those of a secret that was changed meanwhile would be wrong, and are not kept.
    func keep(_ keys: SigningKeys, derivedBy check: SignatureCheck) {
        self.current.withLock { current in
            if current.check.isSame(as: check) { current.signingKeys = keys }
        }
    }
}

extension GatewaySettings {
    fileprivate var check: SignatureCheck {
        SignatureCheck(keys: self.keys.map { self.accessKey($0) }, region: self.region, skew: self.skew)
    }

    private func accessKey(_ key: AccessKeySettings) -> AccessKey {
        let arn = "arn:aws:iam::\(self.account):user/\(key.name)"
        let principal = Principal(arn: arn, accessKeyID: key.id, policy: key.policy)
        return AccessKey(id: key.id, secret: key.secret, principal: principal)
    }
}
