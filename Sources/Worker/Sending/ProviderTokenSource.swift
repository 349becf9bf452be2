internal import APNs
internal import Loop
internal import Push
internal import Store

/// One credential's provider token: the same for the whole fleet, from Redis, minted by whoever Redis picks.
///
/// While Redis is away the token at hand is used on; there is no need to mint without Redis, because without it there
/// is no lease to send under either.
final class ProviderTokenSource {
    private let signer: ProviderTokenSigner
    private let shared: SharedProviderToken
    private let redis: RedisClient
    private let loop: EventLoop
    private let onToken: (ProviderToken) -> Void
    private var policy = ProviderTokenPolicy()
    private var wasRefused = false
    private var again: Deadline?

    /// - Parameter onToken: called with every new token.
    init(
        signer: ProviderTokenSigner,
        id: InstanceID,
        redis: RedisClient,
        loop: EventLoop,
        onToken: @escaping (ProviderToken) -> Void
    ) {
        self.signer = signer
        // A worker with another file under the same key id must not be handed this one's token, nor hand out its own.
        self.shared = SharedProviderToken(team: signer.teamID, key: "\(signer.keyID).\(signer.fingerprint)", id: id)
        self.redis = redis
        self.loop = loop
        self.onToken = onToken
    }

    /// Whether there is a token that Apple will take.
    var isUsable: Bool { self.policy.usable(at: self.loop.wallTime) != nil }

    /// Apple refused the token; another one is fetched as soon as its age allows.
    func refused() {
        self.wasRefused = true
        self.policy.refused(at: self.loop.wallTime)
        self.refresh()
    }

    /// Fetches a token if one is due. To be called now and then, and when Redis has come back.
    func refresh() {
        guard self.policy.shouldAsk(at: self.loop.wallTime) else { return }
        let asked = self.loop.wallTime
        self.redis.run(self.shared.ask(fresh: self.wasRefused, own: self.own)) { [weak self] result in
            guard let self else { return }
            guard case .success(let reply) = result, let answer = self.shared.answer(to: reply) else {
                return self.askAgain(after: .seconds(1))
            }
            switch answer {
            case .use(let token): self.take(token, asked: asked)
            case .make: self.mint()
            case .wait(let time): self.askAgain(after: time)
            }
        }
    }

    /// What this worker uses, for a Redis that has forgotten the fleet's.
    private var own: FleetToken? {
        self.policy.usable(at: self.loop.wallTime).map {
            FleetToken(jwt: $0.text, issued: $0.issuedAt, age: self.loop.wallTime - $0.issuedAt)
        }
    }

    private func mint() {
        let asked = self.loop.wallTime
        let token = self.signer.mint(at: asked)
        self.redis.run(self.shared.store(token.text)) { [weak self] result in
            guard let self else { return }
            guard case .success(let reply) = result, let stored = self.shared.stored(reply) else {
                // The lock was lost: another worker's token counts.
                return self.askAgain(after: .milliseconds(200))
            }
            self.take(stored, asked: asked)
        }
    }

    private func take(_ token: FleetToken, asked: UnixTime) {
        // Its age is Redis' word; counted back from our own clock, so that the two need not agree. The answer may have
        // lain there while the process was stopped, so it counts from the question.
        let taken = ProviderToken(text: token.jwt, issuedAt: asked - token.age)
        let isNew = taken.text != self.policy.current?.text
        if isNew { self.wasRefused = false }
        self.policy.received(taken)
        if isNew { self.onToken(taken) }
    }

    private func askAgain(after time: Duration) {
        self.policy.failed()
        self.again?.cancel()
        self.again = self.loop.after(time) { [weak self] in self?.refresh() }
    }
}
