internal import Push

/// What one flush adds to one hash.
struct CounterPart {
    let key: String
    /// `<lane>:<app>` for the list of all; empty for a minute.
    let member: String
    let life: Duration
    /// With so many fields in the hash, reasons that it does not have yet are counted as `<field>.other`.
    let limit: Int
    /// When the newest message received was published; 0 if none was.
    var newest: Int64 = 0
    var counts: [CounterBatch.Delta.Field] = []
    var reasons: [CounterBatch.Delta.Field] = []

    /// The field that holds the largest `newest`, in milliseconds since 1970.
    static let receivedUntil = "received_until"
    /// Fields of the totals: some 90 that are always the same, and reasons.
    static let totalLimit = 600
    /// Fields of a minute.
    static let minuteLimit = 160

    /// For each app and lane its totals and its minute, and for each lane the fleet's minute: an overview of the last
    /// hour would have to read sixty hashes for each app and lane otherwise.
    static func all(of deltas: [CounterBatch.Delta], in minute: Int64) -> [CounterPart] {
        var parts: [CounterPart] = []
        var fleet: [String: Sum] = [:]
        for delta in deltas {
            var total = CounterPart(
                key: Keys.countersPrefix + delta.lane,
                member: delta.lane,
                life: Keys.counterLife,
                limit: Self.totalLimit
            )
            total.newest = delta.newest
            total.counts = delta.counters + delta.measures
            total.reasons = delta.reasons
            parts.append(total)
            guard !(delta.counters.isEmpty && delta.measures.isEmpty && delta.reasons.isEmpty) else { continue }
            fleet[String(delta.lane.prefix { $0 != ":" }), default: Sum()].add(delta)
            var series = CounterPart(minute: Keys.minute(minute, delta.lane))
            series.counts = delta.counters
            series.reasons = delta.reasons
            if !(series.counts.isEmpty && series.reasons.isEmpty) { parts.append(series) }
        }
        for (lane, sum) in fleet.sorted(by: { $0.key < $1.key }) {
            var part = CounterPart(minute: Keys.fleetMinute(minute, lane: lane))
            part.counts = sum.counts.map { ($0.key, $0.value) }
            part.reasons = sum.reasons.map { ($0.key, $0.value) }
            parts.append(part)
        }
        return parts
    }

    private struct Sum {
        var counts: [String: Int64] = [:]
        var reasons: [String: Int64] = [:]

        mutating func add(_ delta: CounterBatch.Delta) {
            for field in delta.counters { self.counts[field.name, default: 0] += field.count }
            for field in delta.measures { self.counts[field.name, default: 0] += field.count }
            for field in delta.reasons { self.reasons[field.name, default: 0] += field.count }
        }
    }

    private init(key: String, member: String, life: Duration, limit: Int) {
        self.key = key
        self.member = member
        self.life = life
        self.limit = limit
    }

    private init(minute key: String) {
        self.init(key: key, member: "", life: Keys.minuteLife, limit: Self.minuteLimit)
    }

    /// As the script reads it: member, life, limit, newest, how many fields there are without and with the bounded
    /// ones, fields and counts.
    func add(to call: inout ScriptCall) {
        call.add(self.member)
        call.add(milliseconds: self.life)
        call.add(self.limit)
        call.add(self.newest)
        call.add(self.counts.count)
        call.add(self.counts.count + self.reasons.count)
        for field in self.counts + self.reasons {
            call.add(field.name)
            call.add(field.count)
        }
    }
}
