/// Where each number of one app and lane stands in a row of plain integers.
enum CounterLayout {
    static let fields = CounterField.allCases.count
    private static let latency = HistogramField.apnsLatency.bounds
    private static let endToEnd = HistogramField.endToEnd.bounds
    /// Each histogram: its buckets, one without bound, sum, count.
    private static let latencyStart = Self.fields
    private static let endToEndStart = Self.latencyStart + Self.latency.count + 3
    private static let dwell = HistogramField.dwell.bounds
    private static let dwellStart = Self.endToEndStart + Self.endToEnd.count + 3
    /// Numbers in a row.
    static let width = Self.dwellStart + Self.dwell.count + 3

    /// The names in Redis, by place.
    static let names: [String] = {
        let histograms = [HistogramField.apnsLatency, .endToEnd, .dwell].flatMap { field in
            field.bounds.map { "\(field.rawValue).le_\($0)" }
                + ["\(field.rawValue).le_inf", "\(field.rawValue).sum", "\(field.rawValue).count"]
        }
        return CounterField.allCases.map(\.rawValue) + histograms
    }()

    /// The places of the bucket for a value, and of the sum; the count follows the sum.
    static func places(of field: HistogramField, milliseconds: Int64) -> (bucket: Int, sum: Int) {
        switch field {
        case .apnsLatency: self.places(self.latency, start: self.latencyStart, milliseconds)
        case .endToEnd: self.places(self.endToEnd, start: self.endToEndStart, milliseconds)
        case .dwell: self.places(self.dwell, start: self.dwellStart, milliseconds)
        }
    }

    private static func places(_ bounds: [Int64], start: Int, _ value: Int64) -> (bucket: Int, sum: Int) {
        var low = 0
        var high = bounds.count
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] < value { low = middle + 1 } else { high = middle }
        }
        return (start + low, start + bounds.count + 1)
    }
}
