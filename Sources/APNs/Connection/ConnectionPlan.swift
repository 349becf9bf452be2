package import Push

/// Decides which connections a worker opens and which it drains, for one credential. Does no I/O and reads no clock.
///
/// Every connection counts from the moment it is dialled until its socket is closed, draining ones too: that is what
/// the fleet's budget counts. A pool therefore replaces a connection only when the limit leaves room for both.
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

    /// Pace and patience of dialling.
    package struct Settings: Sendable {
        /// Least time between two dials; Apple takes quick opening and closing for an attack. Default 500 ms.
        package var dialInterval: Duration = .milliseconds(500)
        /// First and longest wait after a failed dial; doubles in between. Default 1 s and 60 s.
        package var minBackoff: Duration = .seconds(1)
        package var maxBackoff: Duration = .seconds(60)

        package init() {}
    }

    private let settings: Settings
    private var connections: [ID: State] = [:]
    private var count: UInt64 = 0
    private var nextDial = MonotonicTime(nanoseconds: .min)
    private var backoff: ReconnectBackoff

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
    package var ready: Int { self.connections.values.count { $0 == .ready } }

    /// What to do now. Ask again after every event, and at `nextDialTime`.
    /// - Parameter mayOpen: whether the lease allows one more at this moment; it may say no below `limit`, while a
    ///   renewal is under way.
    package mutating func actions(at now: MonotonicTime, mayOpen: Bool = true) -> [Action] {
        var actions: [Action] = []
        let usable = self.connections.filter { $0.value != .draining }
        let target = min(self.limit, self.wanted)
        if usable.count > target {
            // Those that are not ready yet go first, then the youngest: they carry the least.
            let leavers = usable.sorted { left, right in
                left.value == right.value ? left.key.number > right.key.number : left.value == .dialling
            }
            for (id, _) in leavers.prefix(usable.count - target) {
                self.connections[id] = .draining
                actions.append(.drain(id))
            }
        } else if usable.count < target, self.held < self.limit, mayOpen, now >= self.nextDial {
            self.count += 1
            let id = ID(number: self.count)
            self.connections[id] = .dialling
            self.nextDial = now + self.settings.dialInterval
            actions.append(.open(id))
        }
        return actions
    }

    /// When a dial that is held back may start; nil when none is.
    package var nextDialTime: MonotonicTime? {
        let usable = self.connections.values.count { $0 != .draining }
        return usable < min(self.limit, self.wanted) && self.held < self.limit ? self.nextDial : nil
    }

    /// The connection takes requests now.
    package mutating func ready(_ id: ID) {
        guard self.connections[id] == .dialling else { return }
        self.connections[id] = .ready
        self.backoff.reset()
    }

    /// The connection must take nothing new: Apple said so, or it misbehaves. It still counts until `closed`.
    package mutating func retire(_ id: ID) {
        guard self.connections[id] != nil else { return }
        self.connections[id] = .draining
    }

    /// The connection's socket is gone. A connection that never became ready was a failed dial and delays the next.
    /// - Parameter random: any random number; spreads the wait over half of its length.
    package mutating func closed(_ id: ID, at now: MonotonicTime, random: UInt64) {
        guard let state = self.connections.removeValue(forKey: id), state == .dialling else { return }
        self.nextDial = now + self.backoff.next(random: random)
    }
}
