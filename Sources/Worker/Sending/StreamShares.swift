/// Who may have the last free streams of a sender.
///
/// A tenth of them is kept for `now`, so that what is urgent never waits for `bulk` to be answered. Another tenth is kept
/// for apps that hold less than their part by weight, so that an app whose pushes Apple answers slowly or not at all
/// leaves something to the others. An app alone on its credential has nobody to leave anything to.
struct StreamShares {
    private var inFlight: [Int] = []
    private var weights: [Int] = []
    private var total = 0

    /// Apps that send here, with their weights by number. What is in flight stays counted.
    mutating func share(among turns: [AppTurn]) {
        self.weights = self.weights.map { _ in 0 }
        self.total = 0
        for turn in turns {
            self.reach(turn.app)
            self.total += turn.weight - self.weights[turn.app]
            self.weights[turn.app] = turn.weight
        }
    }

    private mutating func reach(_ app: Int) {
        while self.inFlight.count <= app { self.inFlight.append(0) }
        while self.weights.count <= app { self.weights.append(0) }
    }

    mutating func sent(_ app: Int) {
        self.reach(app)
        self.inFlight[app] += 1
    }

    /// Answered, or never to be answered.
    mutating func ended(_ app: Int) {
        self.inFlight[app] -= 1
    }

    /// Whether a push may take one of the `free` streams of `streams` that there are.
    func mayGo(_ app: Int, isUrgent: Bool, free: Int, of streams: Int) -> Bool {
        let reserve = streams / 10
        guard free <= reserve * 2 else { return true }
        let kept = (isUrgent ? 0 : reserve) + (self.isBelowShare(app, of: streams) ? 0 : reserve)
        return free > kept
    }

    private func isBelowShare(_ app: Int, of streams: Int) -> Bool {
        guard app < self.inFlight.count, self.weights[app] < self.total else { return true }
        return self.inFlight[app] * self.total < streams * self.weights[app]
    }
}
