internal import Loop
internal import Push

/// A scenario as it is played.
struct ScenarioRun: Sendable {
    let scenario: Scenario
    private(set) var timeline: Timeline
    /// Orders that had no effect, each with the reason.
    private(set) var misses: [String] = []

    init(_ scenario: Scenario) {
        self.scenario = scenario
        self.timeline = scenario.timeline
    }

    /// From the beginning.
    mutating func start(at now: MonotonicTime) -> [ControlOrder] {
        self.misses = []
        self.timeline.start(at: now)
        return self.scenario.orders
    }

    /// What is to be done now.
    mutating func proceed(at now: MonotonicTime, seen: Timeline.Seen) -> [ControlOrder] {
        self.timeline.proceed(at: now, seen: seen).flatMap { self.timeline.steps[$0].orders }
    }

    mutating func note(miss: String, of order: ControlOrder) {
        guard self.misses.count < 100 else { return }
        self.misses.append("\(order.name.rawValue): \(miss)")
    }
}

extension PushService {
    /// What a timeline may wait for.
    var seen: Timeline.Seen {
        Timeline.Seen(
            requests: self.ledger.totals.requests,
            accepted: self.ledger.totals.accepted,
            connections: self.log.opened
        )
    }
}

extension Server {
    /// Plays a scenario from its beginning, in place of the one before.
    func play(_ scenario: Scenario) {
        self.run = ScenarioRun(scenario)
        self.startOver()
    }

    /// Starts the scenario over, if there is one.
    func startOver() {
        guard let orders = self.run?.start(at: self.loop.now) else { return }
        for key in self.settings.keys { try? self.service.addKey(key) }
        self.carryOut(orders)
        self.proceed()
    }

    /// Does what is due, and sees to being woken for the next.
    func proceed() {
        guard let orders = self.run?.proceed(at: self.loop.now, seen: self.service.seen) else { return }
        self.carryOut(orders)
        self.isScenarioCounting = self.run?.timeline.isCounting ?? false
        self.scenarioAlarm?.cancel()
        guard let next = self.run?.timeline.next else { return }
        self.scenarioAlarm = self.loop.at(next) { [weak self] in self?.proceed() }
    }

    private func carryOut(_ orders: [ControlOrder]) {
        for order in orders {
            if let miss = order.apply(to: self) { self.run?.note(miss: miss, of: order) }
        }
    }
}
