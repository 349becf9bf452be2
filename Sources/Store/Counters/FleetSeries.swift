package import Push

extension UnixTime {
    /// Whole minutes since 1970.
    package var minute: Int64 { self.seconds >= 0 ? self.seconds / 60 : (self.seconds - 59) / 60 }

    package init(minute: Int64) {
        self.init(seconds: minute * 60)
    }
}

/// Counters by minute, of an app and lane or of several together. Only what was written is there.
package struct FleetSeries: Hashable, Sendable {
    /// The first of the minutes asked for.
    package let start: Int64
    /// How many.
    package let length: Int
    /// By minute, then by lane; every field by its name in Redis.
    package private(set) var minutes: [Int64: [String: [String: Int64]]] = [:]

    package init(start: Int64, length: Int) {
        self.start = start
        self.length = max(0, length)
    }

    /// Adds what one lane counted in one minute; outside of the series, or with nothing, it is ignored.
    package mutating func add(_ fields: [String: Int64], minute: Int64, lane: String) {
        guard minute >= self.start, minute < self.start + Int64(self.length), !fields.isEmpty else { return }
        self.minutes[minute, default: [:]][lane, default: [:]].merge(fields, uniquingKeysWith: +)
    }

    /// The last minutes of it.
    package func last(_ length: Int) -> FleetSeries {
        let length = min(max(0, length), self.length)
        var series = FleetSeries(start: self.start + Int64(self.length - length), length: length)
        series.minutes = self.minutes.filter { $0.key >= series.start }
        return series
    }

    /// Whether anything was written in a minute.
    package func has(_ minute: Int64) -> Bool { self.minutes[minute] != nil }

    /// All lanes of a minute together, as fields by name; nil if nothing was written.
    package func lane(_ minute: Int64) -> FleetStatus.Lane? {
        guard let lanes = self.minutes[minute] else { return nil }
        let fields = lanes.values.reduce(into: [String: Int64]()) { sum, lane in sum.merge(lane, uniquingKeysWith: +) }
        return FleetStatus.Lane(app: "", lane: "", fields: fields)
    }

    /// All minutes and lanes together; with `lane`, of that one.
    package func total(lane name: String? = nil) -> FleetStatus.Lane {
        var fields: [String: Int64] = [:]
        for lanes in self.minutes.values {
            for (lane, counts) in lanes where name == nil || name == lane {
                fields.merge(counts, uniquingKeysWith: +)
            }
        }
        return FleetStatus.Lane(app: "", lane: name ?? "", fields: fields)
    }

    /// One value for each minute, the oldest first; nil where nothing was written.
    package func values(_ field: CounterField) -> [Int64?] {
        (0..<Int64(self.length)).map { offset in
            self.minutes[self.start + offset]?.values.reduce(0) { $0 + ($1[field.rawValue] ?? 0) }
        }
    }

    /// A percentile in milliseconds for each minute; nil where nothing was measured.
    package func percentiles(_ share: Double, of field: HistogramField) -> [Double?] {
        self.values { $0[field].percentile(share) }
    }

    private func values<Value>(_ value: (FleetStatus.Lane) -> Value?) -> [Value?] {
        (0..<Int64(self.length)).map { offset in self.lane(self.start + offset).flatMap(value) }
    }
}
