internal import Push

/// How long things took, in buckets from 1 ms to 10 s.
struct DurationHistogram: Equatable {
    /// Upper bounds in milliseconds, and how Prometheus writes them in seconds.
    private static let bounds: [(milliseconds: Int64, label: String)] = [
        (1, "0.001"), (2, "0.002"), (5, "0.005"), (10, "0.01"), (20, "0.02"), (50, "0.05"), (100, "0.1"), (200, "0.2"),
        (500, "0.5"), (1000, "1"), (2000, "2"), (5000, "5"), (10_000, "10"),
    ]

    private var buckets = [Int](repeating: 0, count: Self.bounds.count)
    private var count = 0
    private var sum: Duration = .zero

    mutating func add(_ duration: Duration) {
        self.count += 1
        self.sum += duration
        let index = Self.bounds.firstIndex { duration <= .milliseconds($0.milliseconds) }
        if let index { self.buckets[index] += 1 }
    }

    /// Its lines; buckets count everything up to their bound.
    func text(_ name: String, labels: String) -> String {
        var text = ""
        var below = 0
        for (bound, bucket) in zip(Self.bounds, self.buckets) {
            below += bucket
            text += "\(name)_bucket{\(labels),le=\"\(bound.label)\"} \(below)\n"
        }
        text += "\(name)_bucket{\(labels),le=\"+Inf\"} \(self.count)\n"
        text += "\(name)_sum{\(labels)} \(Double(self.sum.nanoseconds) / 1e9)\n"
        text += "\(name)_count{\(labels)} \(self.count)\n"
        return text
    }
}
