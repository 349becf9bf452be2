internal import Push

/// What `GET /scenario` answers.
struct ScenarioReport: Encodable, Sendable {
    struct Step: Encodable, Sendable {
        /// Such as `2000 ms` or `500 requests`.
        var when: String
        var orders: [String]
        /// How often it was done.
        var done: Int
    }

    var title: String
    var description: String
    /// Whether the origin of its times is there.
    var hasBegun: Bool
    /// Whether nothing is left to be done.
    var isOver: Bool
    var steps: [Step]
    /// Orders that had no effect, each with the reason.
    var misses: [String]

    /// nil when none is played.
    init?(_ server: Server) {
        guard let run = server.run else { return nil }
        self.title = run.scenario.title
        self.description = run.scenario.description
        self.hasBegun = run.timeline.beganAt != nil
        self.isOver = run.timeline.isOver
        self.steps = zip(run.timeline.steps, run.timeline.done).map { step, done in
            let when =
                switch step.trigger {
                case .time(let time): "\(time.milliseconds) ms"
                case .count(let counter, let count): "\(count) \(counter.rawValue)"
                }
            return Step(when: when, orders: step.orders.map(\.name.rawValue), done: done)
        }
        self.misses = run.misses
    }
}
