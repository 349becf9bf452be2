internal import Push
internal import Store

/// That an operator has stopped an app. Only Redis says so; while it is away, and when it has lost its data, what it said
/// last goes on.
struct HandPause: Equatable {
    /// What stands in the heartbeat.
    static let cause = "hand"

    private var pause: AppPause? {
        didSet { self.isPaused = self.pause != nil }
    }
    private var until: MonotonicTime?
    /// Redis has lost it.
    private var isLost = false

    /// Nothing goes. Asked for every push.
    private(set) var isPaused = false

    /// Redis told of all pauses by hand.
    /// - Parameter pause: the app's; nil if Redis knows of none.
    mutating func heard(_ pause: AppPause?, at now: MonotonicTime) -> SharedPause.Change {
        guard let pause else {
            self.isLost = self.isPaused
            return .none
        }
        if let mine = self.pause, pause.since < mine.since {
            self.isLost = true
            return .none
        }
        self.isLost = false
        guard pause.isStanding else { return self.end() }
        let change: SharedPause.Change = self.isPaused ? .none : .stopped
        self.pause = pause
        self.until = pause.left.map { now + $0 }
        return change
    }

    /// Ends a pause whose time is over.
    mutating func isOver(at now: MonotonicTime) -> Bool {
        guard let until = self.until, now >= until else { return false }
        return self.end() == .resumed
    }

    private mutating func end() -> SharedPause.Change {
        guard self.isPaused else { return .none }
        self = HandPause()
        return .resumed
    }

    /// What Redis is to be told of, and in whose name.
    func order(at now: MonotonicTime) -> (order: PausedApps.Order, name: String)? {
        guard self.isLost, let pause = self.pause else { return nil }
        let left = self.until.map { max(.milliseconds(1), $0 - now) }
        return (.hold(for: left, reason: pause.reason, since: pause.since), pause.by)
    }

    var by: String { self.pause?.by ?? "" }
    var reason: String { self.pause?.reason ?? "" }
}
