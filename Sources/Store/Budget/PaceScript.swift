internal import Push

/// What the fleet's pace answers to a worker that wants to open a connection.
package struct PaceAnswer: Hashable, Sendable {
    /// Whether it was given a slot; without one the line is too long to stand in.
    package let hasSlot: Bool
    /// How long until the slot, from when the script ran; without one, until it makes sense to ask again.
    package let wait: Duration

    package init(hasSlot: Bool, wait: Duration) {
        self.hasSlot = hasSlot
        self.wait = wait
    }

    /// Nil if the reply is none of the script's.
    package init?(_ reply: RedisReply) {
        guard let parts = reply.elements?.map(\.integer), parts.count == 2, let hasSlot = parts[0], let wait = parts[1],
            wait >= 0
        else { return nil }
        self.init(hasSlot: hasSlot == 1, wait: .microseconds(wait))
    }
}

/// How fast all workers together may open connections with one credential.
package struct ConnectPace: Hashable, Sendable {
    /// Connections per second; at least 1. As many may be opened at once after a quiet second.
    package let rate: Int

    package init(rate: Int) {
        self.rate = max(1, rate)
    }

    /// From one slot to the next, rounded up to microseconds.
    package var interval: Duration { .microseconds((1_000_000 + self.rate - 1) / self.rate) }
    /// How far ahead of the steady pace a burst may be: one second's worth of slots, one of them being the next.
    package var tolerance: Duration { self.interval * (self.rate - 1) }
    /// Nobody stands in line for longer than this.
    package static let horizon: Duration = .seconds(3)
}

/// The pace of opening connections in Lua. One string per pool: the time at which the next slot would be due if there
/// were no bursts (the theoretical arrival time of the generic cell rate algorithm), in microseconds.
///
/// Slots are handed out in the order of asking, each with the time at which it is due, so that nobody polls. However the
/// requests come, no window of `t` seconds holds more due times than `rate * (1 + t)`.
///
/// * P1 no entry: nobody has dialled for a second, and a slot is there at once. The entry lives just so long.
/// * P2 an entry further ahead than there can be one: the server's clock went back. The line counts as full.
/// * P3 no slot is handed out that is due later than the horizon.
enum PaceScript {
    static let take = Script(takeSource(now: ServerClock.microseconds))

    /// Answers `{1, microseconds until the slot}` or `{0, microseconds after which to ask again}`.
    /// - Parameter now: Lua that declares the local `now`; tests give the clock as an argument instead.
    static func takeSource(now: String) -> String {
        """
        \(now)
        local interval, tolerance, horizon = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
        local next = tonumber(string.match(redis.call('GET', KEYS[1]) or '', '^%d+$') or '') or now -- P1
        local function keep()
            redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.floor((next - now) / 1000) + 1)
        end
        if next < now then next = now end
        local last = now + tolerance + horizon + interval
        if next > last then -- P2
            next = last
            keep()
        end
        local wait = math.max(0, next - tolerance - now)
        if wait > horizon then return { 0, wait - horizon } end -- P3
        next = next + interval
        keep()
        return { 1, wait }
        """
    }
}

extension Budget {
    /// Takes a slot for one dial. A call that runs twice takes two, of which one lapses.
    package func slot(at pace: ConnectPace) -> ScriptCall { self.slot(at: pace, script: PaceScript.take) }

    func slot(at pace: ConnectPace, script: Script) -> ScriptCall {
        var call = ScriptCall(script, keys: [Keys.pace(pool: self.pool)])
        for time in [pace.interval, pace.tolerance, ConnectPace.horizon] { call.add(time.nanoseconds / 1000) }
        return call
    }
}
