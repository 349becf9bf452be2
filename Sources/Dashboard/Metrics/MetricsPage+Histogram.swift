internal import Store
internal import WebServer

extension MetricsPage {
    /// A histogram as it stands in Redis.
    mutating func add(_ name: String, _ histogram: Histogram, _ labels: KeyValuePairs<String, String>) {
        self.add(
            name,
            bounds: histogram.bounds,
            counts: histogram.counts,
            count: histogram.count,
            sum: histogram.sum,
            labels
        )
    }
}
