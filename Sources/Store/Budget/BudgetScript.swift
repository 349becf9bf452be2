/// The connection budget in Lua. One hash per pool: `meta`, one field per worker with its lease (nine numbers), and
/// `counts`, which only ever grow: ``FleetStatus/Pool/Counts`` in the order of `granted`, `waited`, `wait_time`,
/// `reclaimed`, `overage`.
///
/// The rules have these numbers in comments, in the tests that remove them, and in the fault model:
///
/// * R1 another server process, or no `meta`: nothing grows until every lease of the time before has ended (quarantine).
/// * R2 the server's clock went back: all times move with it.
/// * R3 the caller can show that the server's clock jumped ahead: all times move with it.
/// * R4 a long silence, and nobody can vouch that it was one and not a jump: quarantine.
/// * R5 a request that is not newer than the last one of its sender changes nothing.
/// * R6 in quarantine a worker keeps what it claims.
/// * R7 a grant falls only to what is already closed; `target` says where it should go.
/// * R8 a grant grows only out of the budget minus everyone else's grants.
///
/// Redis' own clock is the only clock. Nothing is granted twice, because a script is one step.
enum BudgetScript {
    /// A worker's heartbeat: drops leases that have ended, divides the budget, and renews the caller's lease.
    static let renew = Script(renewSource(now: ServerClock.milliseconds))
    /// A worker's goodbye: everything is closed.
    static let release = Script(releaseSource)
    /// An operator's word that no worker is running, for a pool that Redis does not know.
    static let initialize = Script(initializeSource(now: ServerClock.milliseconds))

    /// - Parameter now: Lua that declares the local `now`; tests give the clock as an argument instead.
    static func renewSource(now: String) -> String {
        self.renewHead + now + self.renewTime + self.renewShares + self.renewGrant
    }

    static func initializeSource(now: String) -> String {
        """
        if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
        \(now)
        redis.call('HSET', KEYS[1], 'meta', string.format('%s %.0f 0', ARGV[1], now))
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        return 1
        """
    }

    /// Reads the arguments and the hash. A worker that has said goodbye stays as an entry that wants and holds nothing,
    /// until its time is over, so that a late request of it is recognised.
    private static let renewHead = #"""
        local pool, id, seq, run = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3]
        local ttl, silence, slack, quantum =
            tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
        local budget, open, want, claim =
            tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
        local base, elapsed, life = tonumber(ARGV[12]), tonumber(ARGV[13]), ARGV[14]

        local members, meta, changed = {}, nil, false
        local counts, counted = { 0, 0, 0, 0, 0 }, false
        local granted, waited, waitTime, reclaimed, overage = 1, 2, 3, 4, 5
        local function count(what, by)
            if by > 0 then counts[what], counted = counts[what] + by, true end
        end
        local flat = redis.call('HGETALL', pool)
        for i = 1, #flat, 2 do
            if flat[i] == 'meta' then
                local r, l, q = string.match(flat[i + 1], '^(%S+) (%d+) (%d+)$')
                if r then meta = { run = r, last = tonumber(l), quarantine = tonumber(q) } end
            else
                local n = {}
                for word in string.gmatch(flat[i + 1], '%S+') do n[#n + 1] = tonumber(word) end
                if flat[i] == 'counts' then
                    if #n == 5 then counts = n end
                elseif #n == 9 then
                    members[flat[i]] = { id = flat[i], grant = n[1], open = n[2], want = n[3], seq = n[4],
                        expires = n[5], ran = n[6], since = n[7], hungry = n[8], budget = n[9] }
                end
            end
        end
        local fields = {}
        local function write(field, value)
            fields[#fields + 1] = field
            fields[#fields + 1] = value
        end
        local function writeMember(m)
            write(m.id, string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f',
                m.grant, m.open, m.want, m.seq, m.expires, m.ran, m.since, m.hungry, m.budget))
        end

        local me = members[id]
        if me and seq <= me.seq then return { 0, 0, 0, 0, 0, 0, 0, 0, 0 } end -- R5

        """#

    /// Makes the times in the hash comparable with `now`, and decides whether leases may still run that are not in it.
    private static let renewTime = #"""

        local function move(by)
            for _, m in pairs(members) do
                m.expires, m.ran = m.expires + by, m.ran + by
                if m.since > 0 then m.since = math.max(1, m.since + by) end
                if m.hungry > 0 then m.hungry = math.max(1, m.hungry + by) end
            end
            if meta.quarantine > 0 then meta.quarantine = math.max(0, meta.quarantine + by) end
            changed = true
        end
        if not meta then
            meta = { run = run, last = now, quarantine = now + ttl } -- R1
        elseif meta.run ~= run then
            move(now - meta.last)
            for _, m in pairs(members) do m.expires = now + ttl end
            meta.run, meta.quarantine = run, now + ttl -- R1
        elseif now < meta.last then
            move(now - meta.last) -- R2
        else
            local vouched = me and base > 0 and base == me.seq
            if vouched then
                local jump = now - me.ran - elapsed
                if jump > slack then move(jump) end -- R3
            elseif now - meta.last > silence then
                -- In a quarantine leases may run that nobody has claimed yet.
                local mayRun = meta.quarantine > meta.last
                for _, m in pairs(members) do
                    if m.id ~= id and m.grant > 0 then mayRun = true end
                end
                if mayRun then meta.quarantine = now + ttl end -- R4
            end
        end
        meta.last = now
        for _, m in pairs(members) do
            if m.expires <= now then
                count(reclaimed, m.grant)
                members[m.id] = nil
                redis.call('HDEL', pool, m.id)
            end
        end

        """#

    /// Max-min shares (water filling) of whole connections. What cannot be divided evenly goes to those who hold more
    /// already, so that nothing wanders without need. With fewer connections than workers they go round: who holds one
    /// keeps it for a quantum, then who has waited longest, and at least as long, gets it.
    private static let renewShares = #"""

        me = members[id] or { id = id, grant = 0, since = 0, hungry = 0 }
        members[id] = me
        me.open, me.want, me.seq, me.budget = open, want, seq, budget
        me.expires, me.ran = now + ttl, now
        if want == 0 or me.grant > 0 then me.hungry = 0 elseif me.hungry == 0 then me.hungry = now end
        local before, hungry = me.grant, me.hungry

        local wanting, held, wanted, size = {}, 0, 0, 0
        for _, m in pairs(members) do
            if m.grant > 0 or m.want > 0 then
                size = size + 1
                budget = math.min(budget, m.budget)
            end
            if m.id ~= id then held = held + m.grant end
            wanted = wanted + m.want
            m.share = 0
            if m.want > 0 then wanting[#wanting + 1] = m end
        end
        table.sort(wanting, function(a, b)
            if a.want ~= b.want then return a.want < b.want end
            return a.id < b.id
        end)
        local rest, level, above = budget, 0, {}
        for i, m in ipairs(wanting) do
            local fair = math.floor(rest / (#wanting - i + 1))
            if #above == 0 and m.want <= fair then
                m.share = m.want
                rest = rest - m.want
            else
                if #above == 0 then level = fair end
                above[#above + 1] = m
            end
        end
        local function class(m)
            if level > 0 then return -m.grant, 0 end
            if m.grant > 0 then
                if now - m.since < quantum then return 1, m.since end
                return 3, -m.since
            end
            if now - m.hungry >= quantum then return 2, m.hungry end
            return 4, m.hungry
        end
        for _, m in ipairs(above) do m.first, m.second = class(m) end
        table.sort(above, function(a, b)
            if a.first ~= b.first then return a.first < b.first end
            if a.second ~= b.second then return a.second < b.second end
            return a.id < b.id
        end)
        rest = rest - level * #above
        for i, m in ipairs(above) do
            m.share = level
            if i <= rest then m.share = level + 1 end
        end

        """#

    private static let renewGrant = #"""

        local target, quarantine = me.share, math.max(0, meta.quarantine - now)
        if quarantine > 0 then
            me.grant = math.max(open, claim) -- R6
            target = math.min(target, claim) -- R1
        else
            local free = math.max(0, budget - held)
            me.grant = math.max(open, math.min(target, free)) -- R7 R8
            count(overage, open - before)
            local more = me.grant - math.max(open, before)
            count(granted, more)
            if more > 0 and hungry > 0 and hungry < now then
                count(waited, 1)
                count(waitTime, now - hungry)
            end
        end
        if me.grant > 0 then
            me.hungry = 0
            if me.since == 0 then me.since = now end
        else
            me.since = 0
            if want > 0 and me.hungry == 0 then me.hungry = now end
        end

        if changed then
            for _, m in pairs(members) do writeMember(m) end
        else
            writeMember(me)
        end
        write('meta', string.format('%s %.0f %.0f', meta.run, meta.last, meta.quarantine))
        if counted then write('counts', string.format('%.0f %.0f %.0f %.0f %.0f', unpack(counts))) end
        redis.call('HSET', pool, unpack(fields))
        redis.call('PEXPIRE', pool, life)
        return { 1, me.grant, target, quarantine, ttl, held + me.grant, wanted, size, budget }
        """#

    private static let releaseSource = #"""
        local entry = redis.call('HGET', KEYS[1], ARGV[1])
        if not entry then return 0 end
        local seq, rest = string.match(entry, '^%d+ %d+ %d+ (%d+) (%d+ %d+)')
        if not seq or tonumber(ARGV[2]) <= tonumber(seq) then return 0 end
        redis.call('HSET', KEYS[1], ARGV[1], '0 0 0 ' .. ARGV[2] .. ' ' .. rest .. ' 0 0 0')
        return 1
        """#
}
