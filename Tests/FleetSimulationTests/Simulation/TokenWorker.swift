import Push

@testable import APNs
@testable import Store

/// One worker's provider token; mirrors `ProviderTokenSource`.
final class TokenWorker {
    let index: Int
    let id: String
    unowned let simulation: TokenSimulation
    var isAlive = true
    var isFrozen = false
    var frozenUntil = 0
    var heldEvents: [() -> Void] = []
    /// Stops as soon as its next question is on its way, for so long; 0 for not.
    var freezesAfterAsking = 0
    var cutUntil = 0
    /// When Redis last answered: its lease ends 20 s later.
    var heardAt = -1_000_000
    var wallOffset: Int
    private var policy = ProviderTokenPolicy()
    private var wasRefused = false
    /// Under `mintsWithoutAsking`.
    private var hasAsked = false

    init(index: Int, simulation: TokenSimulation) {
        self.index = index
        self.id = "w\(index)"
        self.simulation = simulation
        self.wallOffset = simulation.some(-300...300)
    }

    private var wallTime: UnixTime {
        UnixTime(milliseconds: Int64(1_700_000_000_000 + self.simulation.now + self.wallOffset))
    }

    private var isLeaseValid: Bool { self.simulation.now - self.heardAt < 20_000 }

    /// Now and then: a renewal of the lease, the token if one is due, and a push.
    func tick() {
        self.simulation.command(of: self) { _, _ in
            true
        } _: { [self] _ in
            self.send()
        }
        self.refresh()
        let isBusy = self.policy.usable(at: self.wallTime) == nil || self.wasRefused
        self.simulation.on(
            self,
            after: isBusy ? self.simulation.some(1_000...5_000) : self.simulation.some(30_000...120_000)
        ) {
            [self] in
            self.tick()
        }
    }

    private func send() {
        let token =
            self.simulation.bug == .usesTokensTooLong ? self.policy.current : self.policy.usable(at: self.wallTime)
        guard self.isLeaseValid, let token, let number = Int(token.text) else { return }
        guard !self.simulation.send(with: number, by: self) else { return }
        self.wasRefused = true
        self.policy.refused(at: self.wallTime)
        if self.simulation.bug == .mintsWhenRefused { return self.ask() }
        self.refresh()
    }

    private func refresh() {
        guard self.policy.shouldAsk(at: self.wallTime) else { return }
        self.ask()
    }

    private func ask() {
        if self.simulation.bug == .mintsWithoutAsking, !self.hasAsked {
            self.hasAsked = true
            return self.take(
                FleetToken(jwt: "\(self.simulation.mint())", issued: self.wallTime, age: .zero),
                asked: self.wallTime
            )
        }
        let (fresh, id, asked) = (self.wasRefused, self.id, self.wallTime)
        let own = self.policy.usable(at: asked).map {
            FleetToken(jwt: $0.text, issued: $0.issuedAt, age: asked - $0.issuedAt)
        }
        self.simulation.command(of: self) { model, now in
            model.ask(fresh: fresh, own: own, as: id, now: now)
        } _: { [self] answer in
            self.simulation.note(
                "w\(self.index) asked for \(fresh ? "another" : "the") token: \(answer.map { "\($0)" } ?? "no answer")"
            )
            switch answer {
            case .use(let token): self.take(token, asked: asked)
            case .make: self.mint()
            case .wait(let time): self.askAgain(after: Int(time.milliseconds))
            case nil: self.askAgain(after: 1_000)
            }
        }
        self.freezeIfDue()
    }

    private func mint() {
        let (jwt, id, asked) = ("\(self.simulation.mint())", self.id, self.wallTime)
        self.simulation.note("w\(self.index) makes token \(jwt)")
        self.simulation.command(of: self) { model, now in
            model.store(jwt, as: id, now: now)
        } _: { [self] stored in
            guard let stored, let token = stored else { return self.askAgain(after: 200) }
            self.take(token, asked: asked)
        }
        self.freezeIfDue()
    }

    private func freezeIfDue() {
        guard self.freezesAfterAsking > 0 else { return }
        let time = self.freezesAfterAsking
        self.freezesAfterAsking = 0
        self.simulation.freeze(self, for: time)
    }

    private func take(_ token: FleetToken, asked: UnixTime) {
        let time = self.simulation.bug == .agesFromTheAnswer ? self.wallTime : asked
        let taken = ProviderToken(text: token.jwt, issuedAt: time - token.age)
        if taken.text != self.policy.current?.text { self.wasRefused = false }
        self.policy.received(taken)
    }

    private func askAgain(after time: Int) {
        self.policy.failed()
        self.simulation.on(self, after: time) { [self] in self.refresh() }
    }
}
