internal import Store

enum CleaningScripts {
    private static func make(_ body: String) -> Script {
        RegistryScript.make(RegistryScript.endpoints, RegistryScript.subscriptions, body)
    }

    /// ARGV: only what is dangling for so many ms, limit. Answers how much went, and whether there may be more.
    static let sweep = Self.make(
        #"""
        local age, limit = tonumber(arg()), tonumber(arg())
        local done = 0
        local function sweepBucket(n, bucket)
            local key = P .. 'e:' .. n .. ':' .. bucket
            local flat = redis.call('HGETALL', key)
            for i = 1, #flat, 2 do
                local field = flat[i]
                if #field == 16 then
                    redis.call('ZREM', P .. 'disabled', n .. ':' .. field)
                    if #reverseOf(n, field, 1) > 0 then redis.call('ZADD', P .. 'dangling', now, n .. ':' .. field) end
                    done = done + 1
                elseif #field == 17 then
                    forgetUser(n, string.sub(field, 1, 16), flat[i + 1])
                end
            end
            redis.call('DEL', key)
            redis.call('ZREM', bucketsKey(n), bucket)
            -- One that holds but entries of an index is work too.
            done = done + 1
        end
        local function sweepApplication(n)
            while done < limit do
                local bucket = redis.call('ZRANGEBYLEX', bucketsKey(n), '-', '+', 'LIMIT', 0, 1)[1]
                if not bucket then return true end
                sweepBucket(n, bucket)
            end
        end
        local function sweepTopic(t)
            local members = redis.call('ZRANGEBYLEX', subscriptionsKey(t), '-', '+', 'LIMIT', 0, limit - done)
            for _, member in ipairs(members) do dropSubscription(t, member) end
            done = done + #members
            if redis.call('EXISTS', subscriptionsKey(t)) == 1 then return false end
            redis.call('DEL', attributesKey(t))
            redis.call('HDEL', P .. 'numbers', t)
            return true
        end
        local more = false
        for _, entry in ipairs(redis.call('ZRANGE', P .. 'dead', 0, limit - 1)) do
            if done >= limit then
                more = true
                break
            end
            local n = string.sub(entry, 2)
            local isOver
            if string.sub(entry, 1, 1) == 'a' then isOver = sweepApplication(n) else isOver = sweepTopic(n) end
            if isOver then redis.call('ZREM', P .. 'dead', entry) else more = true end
        end
        local waiting = redis.call('ZRANGEBYSCORE', P .. 'dangling', '-inf', text(now - age), 'LIMIT', 0, limit)
        for _, entry in ipairs(waiting) do
            if done >= limit then
                more = true
                break
            end
            local n, id = splitMember(entry)
            -- One that was registered again has its subscriptions back.
            local count = 0
            if not recordOf(n, id) then
                count = dropReverse(n, id, limit - done)
                done = done + count
            end
            if count == 0 or #reverseOf(n, id, 1) == 0 then redis.call('ZREM', P .. 'dangling', entry)
            else more = true end
        end
        if #waiting == limit then more = true end
        local late = redis.call('ZRANGEBYSCORE', P .. 'pending', '-inf', text(now), 'LIMIT', 0, limit)
        for _, entry in ipairs(late) do
            if done >= limit then
                more = true
                break
            end
            local t, id = splitMember(entry)
            local found = subscriptionMember(t, id)
            if found and isPending(t, id) then dropSubscription(t, found) end
            redis.call('ZREM', P .. 'pending', entry)
            done = done + 1
        end
        if #late == limit then more = true end
        return { done, more and 1 or 0 }
        """#
    )

    /// ARGV: disabled for so many ms at least, limit, `1` if subscriptions go too. The names of those that went, and
    /// whether there may be more comes first.
    static let purge = Self.make(
        #"""
        local age, limit, cascades = tonumber(arg()), tonumber(arg()), arg() == '1'
        local members = redis.call('ZRANGEBYSCORE', P .. 'disabled', '-inf', text(now - age), 'LIMIT', 0, limit)
        local all = { #members == limit and 1 or 0 }
        for _, member in ipairs(members) do
            local n, id = splitMember(member)
            local app = string.sub(redis.call('HGET', P .. 'numbers', n) or 'a', 2)
            redis.call('ZREM', P .. 'disabled', member)
            -- Endpoints of an application that was deleted are swept.
            if redis.call('HGET', appKey(app), 'n') == n then
                if removeEndpoint(n, id, app, cascades) then all[#all + 1] = { app, id } end
            end
        end
        return all
        """#
    )
}
