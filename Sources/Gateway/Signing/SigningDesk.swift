internal import Loop
internal import Push
internal import Registry
internal import Store

/// Finds the key to sign with: the operator's own, or the one that all gateways share in Redis, sealed by the master key.
/// Who comes first makes it.
final class SigningDesk {
    enum State: Equatable {
        case looking
        case ready
        /// There is none and will be none.
        case absent(String)
    }

    private unowned let core: GatewayLoop
    private let signer: EnvelopeSigner
    private(set) var state = State.looking

    init(core: GatewayLoop, signer: EnvelopeSigner) {
        self.core = core
        self.signer = signer
    }

    func start() {
        if let key = self.core.parts.settings.webhooks.signing {
            do {
                self.signer.set(try SigningKey(certificate: key.certificate, privateKey: key.privateKey))
                self.state = .ready
            } catch {
                self.state = .absent("its signing key cannot be used")
            }
            return
        }
        guard self.core.parts.settings.masterKeys != nil else {
            self.state = .absent("it has no gateway.webhooks.signing_key_file and no redis.master_key_file")
            return
        }
        self.look(offering: nil)
    }

    private func look(offering offer: SealedCredential?) {
        let found: Registry.Completion<SealedCredential?> = { [weak self] result in
            guard let self else { return }
            switch result {
            // At the start it is still connecting.
            case .failure: self.later(.milliseconds(100))
            case .success(nil): self.make()
            case .success(let sealed?): self.open(sealed)
            }
        }
        guard let offer else { return self.core.registry.signingKey(found) }
        self.core.registry.offerSigningKey(offer, found)
    }

    private func open(_ sealed: SealedCredential) {
        guard let keys = self.core.parts.settings.masterKeys else { return }
        guard let stored = try? keys.open(sealed, for: Registry.signingKeyOwner), let key = SigningKey(stored) else {
            self.state = .absent("the signing key in Redis cannot be opened with its redis.master_key_file")
            // Until the operator has deleted it.
            return self.later(.seconds(30))
        }
        self.signer.set(key)
        self.state = .ready
    }

    /// Looking for primes takes a while, so this is done elsewhere.
    private func make() {
        guard let keys = self.core.parts.settings.masterKeys else { return }
        let desk = LoopBound(self, to: self.core.loop)
        let remote = self.core.loop.remote
        Task.detached {
            let made = try? SigningKey.make()
            remote.post {
                guard let made else { return desk.value.later() }
                desk.value.look(offering: keys.seal(made, for: Registry.signingKeyOwner))
            }
        }
    }

    private func later(_ delay: Duration = .seconds(1)) {
        self.core.loop.after(delay) { [weak self] in self?.look(offering: nil) }
    }
}
