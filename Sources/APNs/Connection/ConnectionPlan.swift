package import Push

/// Decides which connections a worker opens and which it drains, for one credential. Does no I/O and reads no clock.
///
/// Every connection counts from the moment it is dialled until its socket is closed, draining ones too: that is what
/// the fleet's budget counts. A pool therefore replaces a connection only when the limit leaves room for both, or else
/// drains it first.
package struct ConnectionPlan: Sendable {
    /// One connection in the plan.
    package struct ID: Hashable, Sendable {
        let number: UInt64
    }

    package enum Action: Equatable, Sendable {
        /// Begin to connect. Answer with `opened`, then `ready` or `closed`.
        case open(ID)
        /// Send nothing new on it, let what is in flight finish, then close. Answer with `closed`.
        case drain(ID)
    }

    private enum State {
        case dialling
        case ready
        case draining
    }

    private struct Entry {
        var state = State.dialling
        let dialledAt: MonotonicTime
        var readyAt: MonotonicTime?
        var expiresAt: MonotonicTime?
        /// Too old, or made with a credential that is not in use any more: to be replaced.
        var isOutdated = false
        /// Apple judged a push on it.
        var isProven = false
        /// Drained by the plan itself; how it ends says nothing about the next dial.
        var isDismissed = false
    }

    /// Pace and patience of dialling.
    package struct Settings: Sendable {
        /// Least time between two dials; Apple takes quick opening and closing for an attack. Default 500 ms.
        package var dialInterval: Duration = .milliseconds(500)
        /// First and longest wait after failed dials; doubles in between. Default 1 s and 60 s.
        package var minBackoff: Duration = .seconds(1)
        package var maxBackoff: Duration = .seconds(60)
        /// Age at which a connection is replaced, give or take a quarter, so that a change of Apple's addresses is
        /// followed; default 12 h.
        package var maxAge: Duration = .seconds(12 * 3600)
        /// A connection that ends sooner than this after it was ready, without one answer, was a failed dial; default
        /// 30 s. Apple says so to a credential that it refuses: by GOAWAY, once the connection stands.
        package var probation: Duration = .seconds(30)

        package init() {}
    }

    private let settings: Settings
    private var connections: [ID: Entry] = [:]
    private var count: UInt64 = 0
    private var nextDial = MonotonicTime(nanoseconds: .min)
    private var backoff: ReconnectBackoff
    /// The connection that is dialled in place of an outdated one that is still in use.
    private var successor: ID?
    /// Whether a push was judged since the last failed dial.
    private var isProven = false
    private var lastFailure = MonotonicTime(nanoseconds: .min)

    /// How many connections may exist, by the lease. May fall at any time.
    package var limit = 0
    /// How many connections the work at hand would use.
    package var wanted = 0

    package init(settings: Settings = Settings()) {
        self.settings = settings
        self.backoff = ReconnectBackoff(initial: settings.minBackoff, cap: settings.maxBackoff)
    }

    /// Connections that exist in any state; what the worker reports to the budget.
    package var held: Int { self.connections.count }
    /// Connections that take requests.
    package var ready: Int { self.connections.values.count { $0.state == .ready } }
    /// Connections that are to be replaced and have not been drained yet.
    package var outdated: Int { self.connections.values.count { $0.isOutdated && $0.state != .draining } }

    private var usable: Int { self.connections.values.count { $0.state != .draining } }
    private var target: Int { max(0, min(self.limit, self.wanted)) }

    // MARK: What to do

    /// What to do now. Ask again after every event, and at `nextTime(after:)`.
    /// - Parameter mayOpen: whether lease and pace allow one more at this moment; it may say no below `limit`, while a
    ///   renewal is under way. Asked only when a dial is wanted, which begins at once if it says yes.
    package mutating func actions(at now: MonotonicTime, mayOpen: @autoclosure () -> Bool = true) -> [Action] {
        self.markExpired(at: now)
        var actions = self.dropStaleDials()
        if self.outdated == 0 { self.successor = nil }
        // A successor is the one connection that may be there beyond what is wanted, within the limit.
        let most = min(max(0, self.limit), self.target + (self.successor == nil ? 0 : 1))
        if self.usable > most {
            actions += self.leavers(self.usable - self.target).map { self.dismiss($0) }
        } else if self.usable < self.target {
            if self.held < self.limit, now >= self.nextDial, mayOpen() { actions.append(self.open(at: now)) }
        } else {
            actions += self.replacement(at: now, mayOpen)
        }
        return actions
    }

    /// One outdated connection after the other makes room, each when its successor takes requests, or, where the limit
    /// has no room for both, just before that one is dialled.
    private mutating func replacement(at now: MonotonicTime, _ mayOpen: () -> Bool) -> [Action] {
        guard now >= self.nextDial, self.usable == self.target, self.usable == self.ready,
            let oldest = self.connections.filter({ $0.value.isOutdated && $0.value.state == .ready }).keys
                .min(by: { $0.number < $1.number })
        else { return [] }
        if self.held < self.limit {
            guard mayOpen() else { return [] }
            let action = self.open(at: now)
            self.successor = ID(number: self.count)
            return [action]
        }
        // Another one is leaving already and makes room.
        return self.held > self.usable ? [] : [self.dismiss(oldest)]
    }

    private mutating func markExpired(at now: MonotonicTime) {
        for (id, entry) in self.connections {
            if let end = entry.expiresAt, end <= now { self.connections[id]?.isOutdated = true }
        }
    }

    /// A dial with an old credential is of no use.
    private mutating func dropStaleDials() -> [Action] {
        let stale = self.connections.filter { $0.value.isOutdated && $0.value.state == .dialling }.keys
        return stale.sorted { $0.number < $1.number }.map { self.dismiss($0) }
    }

    /// Those that are not ready yet go first, then the oldest outdated ones, then the youngest: they carry the least.
    private func leavers(_ count: Int) -> [ID] {
        func rank(_ entry: Entry) -> Int { entry.state == .dialling ? 0 : entry.isOutdated ? 1 : 2 }
        let usable = self.connections.filter { $0.value.state != .draining }
        let sorted = usable.sorted { left, right in
            let (first, second) = (rank(left.value), rank(right.value))
            guard first == second else { return first < second }
            return first == 1 ? left.key.number < right.key.number : left.key.number > right.key.number
        }
        return sorted.prefix(count).map(\.key)
    }

    private mutating func dismiss(_ id: ID) -> Action {
        self.connections[id]?.state = .draining
        self.connections[id]?.isDismissed = true
        if self.successor == id { self.successor = nil }
        return .drain(id)
    }

    private mutating func open(at now: MonotonicTime) -> Action {
        self.count += 1
        let id = ID(number: self.count)
        self.connections[id] = Entry(dialledAt: now)
        self.nextDial = now + self.settings.dialInterval
        return .open(id)
    }

    /// When there may be something to do without an event: a dial that is held back, or a connection that gets too old.
    /// Nil also for what is due by now and waits for an event.
    package func nextTime(after now: MonotonicTime) -> MonotonicTime? {
        var times: [MonotonicTime] = []
        let isShort = self.usable < self.target && self.held < self.limit
        let isReplacing = self.outdated > 0 && self.usable == self.target && self.target > 0
        if isShort || isReplacing { times.append(self.nextDial) }
        times += self.connections.values.compactMap { $0.isOutdated ? nil : $0.expiresAt }
        return times.filter { $0 > now }.min()
    }

    // MARK: What happened

    /// The connection takes requests now.
    /// - Parameter random: any random number; spreads the ages at which connections are replaced.
    package mutating func ready(_ id: ID, at now: MonotonicTime, random: UInt64) {
        guard self.connections[id]?.state == .dialling else { return }
        self.connections[id]?.state = .ready
        self.connections[id]?.readyAt = now
        let age = UInt64(self.settings.maxAge.nanoseconds)
        let spread = Int64((age / 2).multipliedFullWidth(by: random).high)
        self.connections[id]?.expiresAt = now + .nanoseconds(Int64(age - age / 4) + spread)
        if self.successor == id { self.successor = nil }
    }

    /// Apple judged a push on it, well or badly: dialling is worth while. What a refused credential costs is the pause's
    /// to say; a wait here would be at the expense of the credential's other apps.
    package mutating func proved(_ id: ID) {
        guard self.connections[id] != nil else { return }
        self.connections[id]?.isProven = true
        self.isProven = true
        self.backoff.reset()
    }

    /// Every connection there is was made with a credential that is not in use any more.
    package mutating func outdate() {
        for id in self.connections.keys { self.connections[id]?.isOutdated = true }
    }

    /// The connection must take nothing new: Apple said so, or it misbehaves. It still counts until `closed`.
    package mutating func retire(_ id: ID) {
        guard self.connections[id] != nil else { return }
        self.connections[id]?.state = .draining
        if self.successor == id { self.successor = nil }
    }

    /// The connection's socket is gone. One on which nothing was answered was a failed dial, and a run of those
    /// delays the next.
    ///
    /// The first failure after a success costs nothing but the pace: a server that goes away takes with it what is just
    /// being set up. Dials that were under way together and fail together are one failure.
    /// - Parameter random: any random number; spreads the wait over half of its length.
    package mutating func closed(_ id: ID, at now: MonotonicTime, random: UInt64) {
        guard let entry = self.connections.removeValue(forKey: id) else { return }
        if self.successor == id { self.successor = nil }
        guard !entry.isProven, !entry.isDismissed else { return }
        if let readyAt = entry.readyAt, now - readyAt >= self.settings.probation { return }
        guard entry.dialledAt >= self.lastFailure else { return }
        self.lastFailure = now
        if self.isProven {
            self.isProven = false
        } else {
            self.nextDial = max(self.nextDial, now + self.backoff.next(random: random))
        }
    }
}
