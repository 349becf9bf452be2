/// The token bucket of one app in Lua. One string per app: the server's run id, when the bucket would be full, and when
/// somebody was last sent away.
///
/// The bucket is kept as the time at which it would be full (the virtual scheduling of the generic cell rate algorithm):
/// who takes tokens moves that time on, and who comes to an empty bucket gets tokens that are due later, in the order of
/// asking. So nobody polls, and what is handed out at any time was earned by then.
///
/// * L1 no entry, or one of another server process: nobody knows what was handed out. The bucket counts as empty, and as
///   owing all that may still be under way.
/// * L2 an entry further ahead than there can be one: the server's clock went back. The same.
/// * L3 nothing is handed out that is due later than the horizon, which bounds what may be under way.
/// * L4 what is asked for ahead of need is given only while the bucket is at least half full.
/// * L5 the longer the line, the smaller the batches, so that all who wait fit in.
enum RateScript {
    static let take = Script(takeSource(now: ServerClock.microseconds))

    /// Answers `{tokens, microseconds until they are due, 1 if somebody was sent away of late}`, or
    /// `{0, microseconds after which to ask again, 1}`.
    /// - Parameter now: Lua that declares the local `now`; tests give the clock as an argument instead.
    static func takeSource(now: String) -> String {
        """
        \(now)
        local run, need, want = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
        local interval, capacity, horizon, spread =
            tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
        local function cost(count) return math.floor((count * interval + 999) / 1000) end
        local function keep(full, away)
            redis.call('SET', KEYS[1], string.format('%s %.0f %.0f', run, full, away), 'PX', ARGV[8])
        end
        local full, away
        local r, f, a = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+) (%d+)$')
        if r == run then full, away = tonumber(f), tonumber(a) end
        local doubt = now + capacity + horizon + spread
        if not full or full > doubt then full, away = doubt, 0 end -- L1 L2
        if full < now then full = now end
        local count, debt = need, full - capacity - now
        if want > need and (full + cost(want) - now) * 2 <= capacity then count = want end -- L4
        if debt > 0 then
            count = math.max(1, math.min(count, math.floor(need * (horizon - debt) / horizon))) -- L5
        end
        local due = math.max(0, debt + cost(count))
        if due > horizon then -- L3
            -- Beyond the horizon nobody stands in line; it is doubt.
            if debt <= horizon then away = now end
            keep(full, away)
            return { 0, due - horizon, 1 }
        end
        keep(full + cost(count), away)
        local isCrowded = 0
        if away > 0 and away <= now and now - away < 1000000 then isCrowded = 1 end
        return { count, due, isCrowded }
        """
    }
}
