internal import Push

/// How often an address may try tokens that are none: ten in a minute. Does no I/O.
struct LoginAttempts {
    static let limit = 10
    static let window: Duration = .seconds(60)
    /// An attacker with many addresses must not fill the memory: beyond this the longest known are forgotten.
    static let addressLimit = 10_000

    private var failures: [String: [MonotonicTime]] = [:]

    /// How long the address has to wait; nil if it may try. An attempt counts until it ``succeeded(_:)``, so that many
    /// at once gain nothing.
    mutating func begin(_ address: String, at now: MonotonicTime) -> Duration? {
        var times = (self.failures[address] ?? []).filter { now - $0 < Self.window }
        if times.count >= Self.limit {
            self.failures[address] = times
            return Self.window - (now - times[0])
        }
        times.append(now)
        self.failures[address] = times
        if self.failures.count > Self.addressLimit { self.forget(at: now) }
        return nil
    }

    /// The last attempt was a good one.
    mutating func succeeded(_ address: String) {
        self.failures[address]?.removeLast()
        if self.failures[address]?.isEmpty == true { self.failures[address] = nil }
    }

    private mutating func forget(at now: MonotonicTime) {
        self.failures = self.failures.filter { now - ($0.value.last ?? now) < Self.window }
        guard self.failures.count > Self.addressLimit else { return }
        let oldest = self.failures.min { ($0.value.last ?? now) < ($1.value.last ?? now) }
        if let oldest { self.failures[oldest.key] = nil }
    }
}
