/// Measured values by bucket, as read from Redis.
package struct Histogram: Hashable, Sendable {
    /// Upper bounds in milliseconds, ascending.
    package let bounds: [Int64]
    /// How many values each bucket holds; one more than there are bounds.
    package let counts: [Int64]
    /// Milliseconds.
    package let sum: Int64

    package init(bounds: [Int64], counts: [Int64], sum: Int64) {
        precondition(counts.count == bounds.count + 1, "a histogram has one bucket more than bounds")
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }

    init(_ field: HistogramField, fields: [String: Int64]) {
        let buckets = field.bounds.map { "\(field.rawValue).le_\($0)" } + ["\(field.rawValue).le_inf"]
        self.init(
            bounds: field.bounds,
            counts: buckets.map { fields[$0] ?? 0 },
            sum: fields["\(field.rawValue).sum"] ?? 0
        )
    }

    package var count: Int64 { self.counts.reduce(0, +) }

    /// Milliseconds; nil without values.
    package var mean: Double? { self.count > 0 ? Double(self.sum) / Double(self.count) : nil }

    /// An estimate in milliseconds, nil without values: within its bucket a value is taken to lie evenly. Beyond the last
    /// bound it is that bound.
    /// - Parameter share: 0.5 for the median.
    package func percentile(_ share: Double) -> Double? {
        let total = self.count
        guard total > 0 else { return nil }
        let rank = share * Double(total)
        var below = 0.0
        for (index, count) in self.counts.enumerated() where count > 0 {
            let upTo = below + Double(count)
            if upTo >= rank {
                guard index < self.bounds.count else { break }
                let lower = index == 0 ? 0 : Double(self.bounds[index - 1])
                return lower + (Double(self.bounds[index]) - lower) * max(0, rank - below) / Double(count)
            }
            below = upTo
        }
        return self.bounds.last.map(Double.init)
    }
}
