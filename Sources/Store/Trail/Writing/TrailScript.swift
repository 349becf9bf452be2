internal import Push

/// Appends a flush to the trail, and makes room where there is none.
///
/// The generation that is written to changes after an hour (a 24th of what is kept, if that is less), or when it has taken a
/// sixteenth of the memory. When all of it takes more than it may, what is plain goes first, the oldest generation of it
/// first; then what is kept. The lists of a flush are known only once its generation is, so their names are made here; all
/// share the hash tag of the first key.
enum TrailScript {
    /// KEYS: index, the worker's session. ARGV: how long to keep, most bytes, records lost before, number of names, then
    /// number and text of each, then list and element of each.
    static let append = Script(
        """
        local index, session = KEYS[1], KEYS[2]
        local prefix = string.sub(index, 1, -6)
        local keep, limit, lost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
        \(ServerClock.milliseconds)
        local span = math.min(3600000, keep / 24)
        local life = math.floor(keep + 2 * span)
        local function text(number) return string.format('%.0f', number) end

        local function drop(generation, class)
            for _, view in ipairs({'m', 't'}) do
                local keys = {}
                for bucket = 0, 255 do
                    keys[bucket + 1] = prefix .. generation .. ':' .. class .. view .. string.format('%02x', bucket)
                end
                redis.call('UNLINK', unpack(keys))
            end
        end

        local function read()
            local entries, total, all = {}, 0, redis.call('HGETALL', index)
            for i = 1, #all, 2 do
                if string.find(all[i], '^%d+$') then
                    local from, to, plain, kept = string.match(all[i + 1], '^(%d+) (%d+) (%d+) (%d+)$')
                    if from then
                        entries[#entries + 1] = {
                            name = all[i], number = tonumber(all[i]), from = tonumber(from), to = tonumber(to),
                            p = tonumber(plain), k = tonumber(kept)
                        }
                        total = total + plain + kept
                    else
                        redis.call('HDEL', index, all[i])
                    end
                end
            end
            table.sort(entries, function(a, b) return a.number < b.number end)
            return entries, total
        end

        local function write(entry)
            redis.call('HSET', index, entry.name,
                text(entry.from) .. ' ' .. text(entry.to) .. ' ' .. text(entry.p) .. ' ' .. text(entry.k))
        end

        -- What is over is forgotten, and what is too much is thrown away.
        local function tidy(current)
            local entries, total = read()
            for _, entry in ipairs(entries) do
                if entry.name ~= current and entry.to < now - keep then
                    drop(entry.name, 'p')
                    drop(entry.name, 'k')
                    redis.call('HDEL', index, entry.name)
                    total = total - entry.p - entry.k
                    entry.p, entry.k = 0, 0
                end
            end
            for _, class in ipairs({'p', 'k'}) do
                for _, entry in ipairs(entries) do
                    if total > limit and entry.name ~= current and entry[class] > 0 then
                        drop(entry.name, class)
                        total = total - entry[class]
                        entry[class] = 0
                        redis.call('HSET', index, class == 'p' and 'plain_since' or 'kept_since', text(entry.to))
                        if entry.p + entry.k > 0 then write(entry) else redis.call('HDEL', index, entry.name) end
                    end
                end
            end
            redis.call('HSET', index, 'bytes', text(total))
            return total
        end

        local current = redis.call('HGET', index, 'current')
        local state = current and redis.call('HGET', index, current)
        local from, to, plain, kept
        if state then from, to, plain, kept = string.match(state, '^(%d+) (%d+) (%d+) (%d+)$') end
        local entry
        if from then
            entry = {name = current, from = tonumber(from), to = tonumber(to), p = tonumber(plain), k = tonumber(kept)}
        end
        local isNew = not entry or now - entry.from >= span or now < entry.from or entry.p + entry.k > limit / 16
        if isNew then
            local number = math.floor(now / 1000)
            if current and string.find(current, '^%d+$') then number = math.max(number, tonumber(current) + 1) end
            entry = {name = text(number), from = now, to = now, p = 0, k = 0}
            redis.call('HSET', index, 'current', entry.name, 'keep', text(keep), 'limit', text(limit))
        end
        entry.to = math.max(entry.to, now)

        local at = 5 + 2 * tonumber(ARGV[4])
        for i = 5, at - 1, 2 do redis.call('HSET', session, ARGV[i], ARGV[i + 1]) end
        local bytes = 0
        for i = at, #ARGV, 2 do
            local list, element = ARGV[i], ARGV[i + 1]
            local key = prefix .. entry.name .. ':' .. list
            local cost = #element + 8
            if redis.call('RPUSH', key, element) == 1 then
                redis.call('PEXPIRE', key, life)
                cost = cost + 250
            end
            local class = string.sub(list, 1, 1)
            entry[class] = entry[class] + cost
            bytes = bytes + cost
        end
        write(entry)
        local function grow(field, count)
            local total = (tonumber(redis.call('HGET', index, field)) or 0) + count
            redis.call('HSET', index, field, text(total))
            return total
        end
        local total = grow('bytes', bytes)
        if lost > 0 then
            grow('lost', lost)
            redis.call('HSET', index, 'lost_at', text(now))
        end
        if isNew or total > limit then tidy(entry.name) end
        redis.call('PEXPIRE', index, life)
        redis.call('PEXPIRE', session, life)
        return redis.call('HLEN', session)
        """
    )
}
