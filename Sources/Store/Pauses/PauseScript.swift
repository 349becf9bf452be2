/// The fleet's pauses in Lua: one hash for all apps, `fault:<app>` for what Apple's answers stop and `hand:<app>` for
/// what an operator stops. Nearly always the hash does not exist.
///
/// An entry is `<paused 1|0> <cause> <since> <ends> <pauses> <prober> <probe ends> <expires> <by>\t<reason>`. What was
/// resumed stays for a while as such: an entry that is missing means that Redis has lost it, and workers bring it back.
/// `since` tells one pause from the next and only grows, whatever the clock does.
///
/// `early:<app>` counts the first answers that workers got, so that a wrong environment costs the fleet, not each worker,
/// as many tokens as it takes to see it: answers stand in place of `ends`, suspects in place of `pauses`.
enum PauseScript {
    static let act = Script(shortcut + source(now: ServerClock.milliseconds))

    /// Every worker reads every other second, and there is hardly ever anything to read.
    private static let shortcut = """
        if ARGV[1] == 'read' and #redis.call('HGETALL', KEYS[1]) == 0 then return { 0 } end

        """

    /// KEYS: the hash. ARGV: what to do; then field, caller, `since` (0 for none), and what that wants to know. Answers
    /// the time, and then fields and entries: all for `read`, else the one concerned.
    /// - Parameter now: Lua that declares the local `now`; tests give the clock as the last argument instead.
    static func source(now: String) -> String {
        now + self.head + self.faults + self.hands + self.end
    }

    private static let head = #"""

        local longest, lease, life, memory = 300000, 6000, 900000, 600000
        local key, op, field, id, since = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4] or 0)

        local entries, order = {}, {}
        local flat = redis.call('HGETALL', key)
        for i = 1, #flat, 2 do
            local state, cause, from, ends, pauses, prober, probe, expires, text = string.match(
                flat[i + 1], '^([01]) (%S+) (%d+) (%d+) (%d+) (%S+) (%d+) (%d+) (.*)$')
            if state and (expires == '0' or tonumber(expires) > now) then
                local e = { state = tonumber(state), cause = cause, since = tonumber(from), ends = tonumber(ends),
                    pauses = tonumber(pauses), prober = prober, probe = tonumber(probe),
                    expires = tonumber(expires), text = text }
                if e.cause ~= 'hand' then
                    -- The server's clock went back.
                    e.ends, e.probe = math.min(e.ends, now + longest), math.min(e.probe, now + lease)
                end
                entries[flat[i]] = e
                order[#order + 1] = flat[i]
            else
                redis.call('HDEL', key, flat[i])
            end
        end
        local function written(e)
            return string.format('%.0f %s %.0f %.0f %.0f %s %.0f %.0f %s',
                e.state, e.cause, e.since, e.ends, e.pauses, e.prober, e.probe, e.expires, e.text)
        end
        if op == 'read' then
            local all = { now }
            for _, name in ipairs(order) do
                all[#all + 1] = name
                all[#all + 1] = written(entries[name])
            end
            return all
        end

        local e, changed, counted = entries[field], false, false
        local early = 'early' .. string.sub(field, (string.find(field, ':', 1, true)))
        local stands = e and e.state == 1
        local mine = stands and e.since == since
        local function begin(cause, text)
            local from = since
            if from == 0 then from = math.max(now, e and e.since + 1 or 0) end
            e = { state = 1, cause = cause, since = from, ends = 0, pauses = 0, prober = '-', probe = 0,
                expires = 0, text = text }
            entries[field], changed = e, true
        end
        local function forgetEarly()
            if entries[early] then redis.call('HDEL', key, early) end
            entries[early] = nil
        end
        local function pause(wait, pauses, cause, by)
            begin(cause, by .. '\t')
            e.ends, e.pauses = now + wait, pauses
            e.expires = e.ends + life
            forgetEarly()
        end
        local function resume()
            e.state, e.prober, e.probe, e.expires, changed = 0, '-', 0, now + memory, true
        end

        """#

    private static let faults = #"""
        if op == 'pause' then
            if not stands and not (e and since > 0 and since <= e.since) then
                pause(tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[5], ARGV[8])
            end
        elseif op == 'probe' then
            if mine and now >= e.ends and (e.prober == '-' or e.prober == id or e.probe <= now) then
                e.prober, e.probe, e.expires, changed = id, now + lease, now + lease + life, true
            end
        elseif op == 'yield' then
            if mine and e.prober == id then e.prober, e.probe, changed = '-', 0, true end
        elseif op == 'fail' then
            if mine and e.prober == id then
                if e.cause ~= ARGV[5] then e.cause, e.pauses = ARGV[5], 0 end
                e.ends = now + math.min(tonumber(ARGV[7]), tonumber(ARGV[6]) * 2 ^ math.min(e.pauses, 10))
                e.pauses, e.prober, e.probe, e.expires, changed = e.pauses + 1, '-', 0, e.ends + life, true
            end
        elseif op == 'resume' then
            if mine then
                resume()
                forgetEarly()
            end
        elseif op == 'answers' then
            if not stands then
                local c = entries[early] or { state = 0, cause = 'early', since = now, ends = 0, pauses = 0,
                    prober = '-', probe = 0, expires = now + 60000, text = '\t' }
                c.pauses, c.ends = c.pauses + tonumber(ARGV[5]), c.ends + tonumber(ARGV[6])
                local threshold = tonumber(ARGV[7])
                if threshold > 0 and c.pauses >= tonumber(ARGV[8]) and c.pauses * 100 >= threshold * c.ends then
                    pause(tonumber(ARGV[9]), 1, 'suspects', ARGV[10])
                else
                    entries[early], counted = c, true
                    redis.call('HSET', key, early, written(c))
                end
            end
        elseif op == 'due' then
            if mine or stands and since == 0 then e.ends, e.pauses, changed = math.min(e.ends, now), 0, true end
        """#

    private static let hands = #"""

        elseif op == 'hold' then
            if since == 0 or not e or since > e.since then
                begin('hand', ARGV[6] .. '\t' .. ARGV[7])
                local wait = tonumber(ARGV[5])
                if wait > 0 then e.ends, e.expires = now + wait, now + wait + memory end
            end
        elseif op == 'release' then
            if stands then resume() end
        end

        """#

    /// The hash lives as long as the longest of its entries.
    private static let end = #"""
        if changed then redis.call('HSET', key, field, written(e)) end
        if changed or counted then
            local last = now
            for _, other in pairs(entries) do
                if other.expires == 0 then last = nil break end
                last = math.max(last, other.expires)
            end
            if last then redis.call('PEXPIRE', key, string.format('%.0f', last - now + 1))
            else redis.call('PERSIST', key) end
        end
        if e then return { now, field, written(e) } end
        return { now }
        """#
}
