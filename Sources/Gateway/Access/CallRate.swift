internal import Push
internal import Synchronization

/// How many calls each access key may make at this gateway: a token bucket for each, filled continuously.
final class CallRate: Sendable {
    private struct Bucket {
        var level: Double
        var time: MonotonicTime
    }

    private let limits: [String: RateLimit]
    private let buckets = Mutex<[String: Bucket]>([:])

    init(_ keys: [AccessKeySettings]) {
        self.limits = Dictionary(
            keys.compactMap { key in key.rate.map { (key.id, $0) } },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Takes one call, if there is one left.
    func takes(_ key: String, at now: MonotonicTime) -> Bool {
        guard let limit = self.limits[key] else { return true }
        let size = Double(limit.bucketSize)
        return self.buckets.withLock { buckets in
            var bucket = buckets[key] ?? Bucket(level: size, time: now)
            let passed = Double((now - bucket.time).nanoseconds) / 1e9
            bucket.level = min(size, bucket.level + max(0, passed) * Double(limit.rate))
            bucket.time = max(now, bucket.time)
            let isAllowed = bucket.level >= 1
            if isAllowed { bucket.level -= 1 }
            buckets[key] = bucket
            return isAllowed
        }
    }
}
