package import Loop
internal import Push

/// Asks for the fleet's leave before each dial of one worker in one budget pool. The rule is ``DialPace``.
package final class PaceKeeper {
    private let budget: Budget
    private let pace: ConnectPace
    private let client: RedisClient
    private let loop: EventLoop
    private let onChange: () -> Void
    private var rule = DialPace()
    private var timer: Deadline?

    /// - Parameter onChange: a dial that `mayDial` put off may go now, if it is still wanted.
    package init(
        _ budget: Budget,
        pace: ConnectPace,
        client: RedisClient,
        on loop: EventLoop,
        onChange: @escaping () -> Void
    ) {
        self.budget = budget
        self.pace = pace
        self.client = client
        self.loop = loop
        self.onChange = onChange
    }

    /// Whether to dial now. To be asked only by who dials at once when it says yes: that uses up a slot. When it says no,
    /// a slot is on its way, and `onChange` tells.
    package func mayDial() -> Bool {
        switch self.rule.wantsToDial(isRedisThere: self.client.server != nil, at: self.loop.now) {
        case .dial: return true
        case .wait: return false
        case .ask:
            self.client.run(self.budget.slot(at: self.pace)) { [weak self] in self?.answered($0) }
            return false
        }
    }

    private func answered(_ result: Result<RedisReply, RedisFailure>) {
        let now = self.loop.now
        if case .success(let reply) = result, let answer = PaceAnswer(reply) {
            self.rule.answered(answer, at: now, random: .random(in: 0...UInt64.max))
        } else {
            self.rule.failed(at: now)
        }
        guard let wake = self.rule.wakeTime else { return }
        guard wake > now else { return self.onChange() }
        self.timer?.cancel()
        self.timer = self.loop.at(wake) { [weak self] in self?.onChange() }
    }
}
