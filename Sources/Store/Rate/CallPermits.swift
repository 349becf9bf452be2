package import Push

/// How many calls an access key may make, as all gateways together hold it: a token bucket in Redis that is full for whoever
/// it does not know. Nobody waits in line: who is refused tries again later.
package enum CallPermits {
    /// KEYS: the bucket. ARGV: calls per second, the bucket's size, how many are wanted, its life in milliseconds.
    private static let take = Script(
        ServerClock.microseconds + """

            local rate, size, want = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
            local level, time = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+)$')
            level, time = tonumber(level or size), tonumber(time or now)
            -- The server's clock may have gone back.
            level = math.min(size, level + math.max(0, now - time) * rate / 1000000)
            local count = math.max(0, math.min(want, math.floor(level)))
            redis.call('SET', KEYS[1], string.format('%.6f %.0f', level - count, now), 'PX', ARGV[4])
            return count
            """
    )

    /// Takes up to so many permits; answers how many.
    /// - Parameter key: the access key id.
    package static func take(_ count: Int, of limit: RateLimit, key: String) -> ScriptCall {
        var call = ScriptCall(self.take, keys: [Keys.calls(key)])
        for number in [limit.rate, limit.bucketSize, count] { call.add(number) }
        // By then it is full.
        call.add(milliseconds: .seconds(Int64(limit.bucketSize / limit.rate) + 60))
        return call
    }
}
