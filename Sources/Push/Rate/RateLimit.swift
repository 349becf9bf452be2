/// How fast the whole fleet may send for one app: the App Engine task queue's token bucket, under its own names.
///
/// The law is that Apple sees no more than `rate · t + bucket_size` pushes in any time t. Tokens are handed out by Redis
/// and used a little later, by many workers, so that those of different moments may meet at Apple. Hence Redis keeps
/// back what could come late: with tokens that arrive at most ``spread`` after they were due, a bucket of `capacity`
/// keeps the law if `capacity + rate · spread` is no more than `bucket_size`. Where the bucket is too small for that it
/// is refilled more slowly instead.
package struct RateLimit: Hashable, Sendable {
    /// What either number may be at most.
    package static let limit = 1_000_000
    /// App Engine's default of `bucket_size`; the least that it is here unless it is given.
    package static let leastStandardBucket = 5

    /// Pushes per second, first attempts and retries alike.
    package let rate: Int
    /// Pushes that may go at once after a time without any.
    package let bucketSize: Int

    /// How far apart two tokens that were due at the same time may arrive at Apple.
    package let spread: Duration
    /// What the bucket in Redis holds, in thousandths of a token.
    private let capacityThousandths: Int
    /// Nanoseconds from one token to the next.
    package let interval: Int

    /// - Parameter bucketSize: nil for what the rate gives in one second, and no less than App Engine's default.
    /// - Throws: for zero, negative and absurd numbers.
    package init(rate: Int, bucketSize: Int? = nil) throws(SettingFault) {
        for (name, value) in [("rate", rate), ("bucket_size", bucketSize ?? 1)] {
            guard value > 0 else { throw SettingFault(name, "\(name) must be at least 1.") }
            guard value <= Self.limit else { throw SettingFault(name, "\(name) must be at most \(Self.limit).") }
        }
        self.rate = rate
        let size = bucketSize ?? max(rate, Self.leastStandardBucket)
        self.bucketSize = size
        // Half of the bucket for what comes late; more than a second of it nobody needs.
        let late = min(max((size - 1) * 500_000 / rate, Self.leastSpread), 1_000_000)
        self.spread = .microseconds(late)
        // In millionths of a token.
        let keptBack = rate * late
        let rest = size * 1_000_000 - keptBack
        self.capacityThousandths = max(rest, 1_000_000) / 1000
        // Below one token the rest of what comes late is made up for by a longer interval.
        let missing = max(0, 1_000_000 - rest)
        self.interval = (1_000_000_000 + missing * 1000 + rate - 1) / rate
    }

    /// 50 ms, in microseconds: less than a round trip to Redis and a turn of the loop may take would let nothing through.
    private static let leastSpread = 50_000

    /// How long a token may be used after it was due; the rest of ``spread`` is for the way to Apple.
    package var life: Duration { self.spread * 3 / 5 }

    /// How long it takes to fill the bucket in Redis.
    package var capacity: Duration { .microseconds(self.capacityThousandths * self.interval / 1_000_000) }

    /// How far ahead tokens are handed out to workers that wait.
    package var horizon: Duration { max(.seconds(1), .nanoseconds(self.interval * 2)) }

    /// How many tokens one trip to Redis gets at most: what the rate gives in 50 ms, so that 20 trips a second are enough
    /// for the whole fleet.
    package var batch: Int { max(1, min((self.rate + 19) / 20, self.capacityThousandths / 1000)) }

    /// The part of the rate that can be used, in percent: less than 100 if the bucket is very small.
    package var usablePercentage: Int {
        let stretched = self.interval * self.rate
        return (100_000_000_000 + stretched / 2) / stretched
    }

    /// The smallest `bucket_size` that lets the whole rate be used.
    package var leastUsefulBucket: Int { 1 + (self.rate * Self.leastSpread + 999_999) / 1_000_000 }
}
