internal import Push

/// How many pushes one device token may get in a row before 429 `TooManyRequests`: a bucket for each token.
///
/// About 400 in a burst was seen by operators; how fast the bucket fills again is a guess.
package struct TokenRate: Equatable, Sendable {
    package var burst: Int
    /// Pushes that a token may get each second after its burst is used up.
    package var perSecond: Double

    package init(burst: Int = 400, perSecond: Double = 10) {
        self.burst = burst
        self.perSecond = perSecond
    }
}

/// The buckets of all tokens that were pushed to lately.
struct TokenBuckets: Sendable {
    private struct Bucket {
        var level: Double
        var at: MonotonicTime
    }

    var rate: TokenRate? {
        didSet { if self.rate == nil { self.buckets.removeAll() } }
    }
    private var buckets: [UInt64: Bucket] = [:]

    init(rate: TokenRate?) {
        self.rate = rate
    }

    /// Takes one push to a token out of its bucket.
    /// - Returns: false when it is empty.
    mutating func admit(_ token: [UInt8], at now: MonotonicTime) -> Bool {
        guard let rate = self.rate else { return true }
        let key = Digest.of(token)
        let full = Double(rate.burst)
        var bucket = self.buckets[key] ?? Bucket(level: full, at: now)
        bucket.level = min(full, bucket.level + Self.seconds(now - bucket.at) * rate.perSecond)
        bucket.at = now
        let isAdmitted = bucket.level >= 1
        if isAdmitted { bucket.level -= 1 }
        self.buckets[key] = bucket
        if self.buckets.count > Self.capacity { self.sweep(rate, at: now) }
        return isAdmitted
    }

    mutating func removeAll() {
        self.buckets.removeAll()
    }

    /// Buckets that have become full again need not be remembered.
    private mutating func sweep(_ rate: TokenRate, at now: MonotonicTime) {
        let full = Double(rate.burst)
        self.buckets = self.buckets.filter { $0.value.level + Self.seconds(now - $0.value.at) * rate.perSecond < full }
        // A sender to endless tokens must not fill the memory; whoever is forgotten gets a full bucket.
        if self.buckets.count > Self.capacity / 2 { self.buckets.removeAll() }
    }

    private static func seconds(_ duration: Duration) -> Double { Double(max(0, duration.nanoseconds)) / 1e9 }

    private static let capacity = 1_000_000
}
