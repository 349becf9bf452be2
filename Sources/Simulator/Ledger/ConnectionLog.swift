internal import Push

/// How many connections there were, and are, and whose.
struct ConnectionLog: Sendable {
    private(set) var opened = 0
    private(set) var open = 0
    private(set) var peak = 0
    private(set) var byKey: [String: ConnectionCount] = [:]
    private(set) var byTeam: [String: ConnectionCount] = [:]
    /// On connections that are closed.
    private(set) var traffic = ConnectionTraffic()
    /// Those that are closed, the oldest first.
    private(set) var closed: [ConnectionRecord] = []
    private var opensByMinute: [Int64: Int] = [:]

    /// Connections that are closed are told of up to this number.
    static let capacity = 10_000

    mutating func didOpen(at now: UnixTime) {
        self.opened += 1
        self.open += 1
        self.peak = max(self.peak, self.open)
        self.opensByMinute[now.seconds / 60, default: 0] += 1
        if self.opensByMinute.count > 2880 {
            self.opensByMinute = self.opensByMinute.filter { $0.key > now.seconds / 60 - 1440 }
        }
    }

    mutating func didBind(to key: ProviderKey) {
        self.byKey[key.id, default: ConnectionCount()].add()
        self.byTeam[key.team, default: ConnectionCount()].add()
    }

    mutating func didClose(_ record: ConnectionRecord) {
        self.open -= 1
        self.traffic = self.traffic + record.traffic
        if let keyID = record.keyID { self.byKey[keyID]?.open -= 1 }
        if let team = record.team { self.byTeam[team]?.open -= 1 }
        if self.closed.count >= 2 * Self.capacity { self.closed.removeFirst(Self.capacity) }
        self.closed.append(record)
    }

    /// Counts from zero; what is open stays open.
    mutating func reset() {
        let old = self
        self = ConnectionLog()
        self.open = old.open
        self.opened = old.open
        self.peak = old.open
        self.byKey = old.byKey.mapValues { ConnectionCount(opened: $0.open, open: $0.open, peak: $0.open) }
        self.byTeam = old.byTeam.mapValues { ConnectionCount(opened: $0.open, open: $0.open, peak: $0.open) }
    }

    /// The last day's minutes in which connections opened, in order.
    var minutes: [MinuteCount] {
        self.opensByMinute.sorted { $0.key < $1.key }.map { MinuteCount(minute: $0.key * 60, count: $0.value) }
    }
}

/// Connections of one key or team.
package struct ConnectionCount: Codable, Equatable, Sendable {
    package var opened = 0
    package var open = 0
    /// The most that were open at once.
    package var peak = 0

    package init(opened: Int = 0, open: Int = 0, peak: Int = 0) {
        self.opened = opened
        self.open = open
        self.peak = peak
    }

    fileprivate mutating func add() {
        self.opened += 1
        self.open += 1
        self.peak = max(self.peak, self.open)
    }
}

/// How often something happened within one minute.
package struct MinuteCount: Codable, Equatable, Sendable {
    /// Its beginning, seconds since 1970.
    package var minute: Int64
    package var count: Int
}
