package import Push

/// Gathers counts between two flushes. Apps, lanes and reasons are registered once and are small numbers from then on,
/// so that counting a message adds to an array and builds nothing.
package struct CounterBatch: Sendable {
    /// One app and lane.
    package struct Slot: Hashable, Sendable {
        fileprivate let index: Int32
    }

    /// One reason.
    package struct Reason: Hashable, Sendable {
        fileprivate let index: Int32
    }

    /// Beyond so many apps and lanes, or reasons, everything is counted under one name: what a publisher writes must not
    /// fill Redis.
    static let maximumSlots = 10_000
    static let maximumReasons = 500
    /// The name for what is beyond.
    static let other = "other"

    private var rows: [Int64] = []
    private var lanes: [String] = []
    private var isDirty: [Bool] = []
    /// When the newest message received was published, by slot; 0 if none was.
    private var newest: [Int64] = []
    private var dirty: [Int32] = []
    private var slots: [String: Slot] = [:]
    private var reasonNames: [String] = []
    private var reasonNumbers: [String: Reason] = [:]
    private var reasons: [ReasonKey: Int64] = [:]

    private struct ReasonKey: Hashable {
        let slot: Int32
        let field: ReasonField
        let reason: Int32
    }

    package init() {}

    // MARK: Registering

    /// The slot of an app and lane; the same each time. Not for every message: keep what it returns.
    package mutating func slot(app: String, lane: String) -> Slot {
        let name = Keys.lane(lane, ofApp: app)
        if let slot = self.slots[name] { return slot }
        if self.lanes.count >= Self.maximumSlots, name != Keys.lane(lane, ofApp: Self.other) {
            return self.slot(app: Self.other, lane: lane)
        }
        let slot = Slot(index: Int32(self.lanes.count))
        self.lanes.append(name)
        self.isDirty.append(false)
        self.newest.append(0)
        self.rows += repeatElement(0, count: CounterLayout.width)
        self.slots[name] = slot
        return slot
    }

    /// The number of a reason, such as `Unregistered`; the same each time.
    package mutating func reason(_ name: String) -> Reason {
        if let reason = self.reasonNumbers[name] { return reason }
        if self.reasonNames.count >= Self.maximumReasons, name != Self.other { return self.reason(Self.other) }
        let reason = Reason(index: Int32(self.reasonNames.count))
        self.reasonNames.append(name)
        self.reasonNumbers[name] = reason
        return reason
    }

    // MARK: Counting

    package mutating func add(_ field: CounterField, _ count: Int64 = 1, at slot: Slot) {
        self.rows[Int(slot.index) * CounterLayout.width + field.index] += count
        self.touch(slot)
    }

    /// Counts under the field and under its reason.
    package mutating func add(_ field: ReasonField, _ reason: Reason, _ count: Int64 = 1, at slot: Slot) {
        if let total = field.total { self.add(total, count, at: slot) } else { self.touch(slot) }
        self.reasons[ReasonKey(slot: slot.index, field: field, reason: reason.index), default: 0] += count
    }

    /// Negative values, which only a publisher's wrong clock makes, count as 0.
    package mutating func observe(_ value: Duration, _ field: HistogramField, at slot: Slot) {
        let milliseconds = max(0, value.milliseconds)
        let (bucket, sum) = CounterLayout.places(of: field, milliseconds: milliseconds)
        let row = Int(slot.index) * CounterLayout.width
        self.rows[row + bucket] += 1
        self.rows[row + sum] += milliseconds
        self.rows[row + sum + 1] += 1
        self.touch(slot)
    }

    /// A message that was published then was received for the first time.
    package mutating func received(publishedAt time: UnixTime, at slot: Slot) {
        let place = Int(slot.index)
        if self.newest[place] < time.milliseconds { self.newest[place] = time.milliseconds }
        self.touch(slot)
    }

    private mutating func touch(_ slot: Slot) {
        guard !self.isDirty[Int(slot.index)] else { return }
        self.isDirty[Int(slot.index)] = true
        self.dirty.append(slot.index)
    }

    // MARK: Taking

    /// Nothing has been counted since the last time everything was taken.
    package var isEmpty: Bool { self.dirty.isEmpty }

    /// Apps and lanes with counts.
    var touchedSlots: Int { self.dirty.count }

    /// What is counted for one app and lane.
    struct Delta {
        typealias Field = (name: String, count: Int64)

        /// `<lane>:<app>`.
        let lane: String
        var counters: [Field] = []
        /// Of histograms.
        var measures: [Field] = []
        var reasons: [Field] = []
        /// When the newest message received was published; 0 if none was.
        var newest: Int64 = 0

        /// `<lane>` alone.
        var laneName: String { String(self.lane.prefix { $0 != ":" }) }
        /// All but reasons.
        var sums: [(String, Int64)] { (self.counters + self.measures).map { ($0.name, $0.count) } }
        var fields: [Field] { self.counters + self.measures + self.reasons }
    }

    /// Takes out the counts of at most `limit` slots, those that were touched first.
    mutating func take(limit: Int) -> [Delta] {
        let taken = self.dirty.prefix(limit)
        self.dirty.removeFirst(taken.count)
        var deltas: [Int32: Delta] = [:]
        for slot in taken {
            self.isDirty[Int(slot)] = false
            var delta = Delta(lane: self.lanes[Int(slot)])
            let row = Int(slot) * CounterLayout.width
            for place in 0..<CounterLayout.width where self.rows[row + place] != 0 {
                let field = (CounterLayout.names[place], self.rows[row + place])
                if place < CounterLayout.fields { delta.counters.append(field) } else { delta.measures.append(field) }
                self.rows[row + place] = 0
            }
            delta.newest = self.newest[Int(slot)]
            self.newest[Int(slot)] = 0
            deltas[slot] = delta
        }
        for (key, count) in self.reasons where deltas[key.slot] != nil {
            let name = "\(key.field.rawValue).\(self.reasonNames[Int(key.reason)])"
            deltas[key.slot]?.reasons.append((name, count))
            self.reasons[key] = nil
        }
        return taken.compactMap { deltas[$0] }
    }
}
