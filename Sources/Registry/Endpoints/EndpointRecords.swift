extension RegistryScript {
    /// Endpoints: their records and the two indexes, by token and by user data.
    static let endpoints = #"""
        local function unpackRecord(r)
            local flags, registered, generation, start = struct.unpack('>BI6I4', r)
            return { flags = flags, registered = registered, generation = generation,
                token = string.sub(r, start), enabled = flags % 2 == 1, isHex = math.floor(flags / 2) % 2 == 1,
                isShared = math.floor(flags / 4) % 2 == 1 }
        end
        local function recordOf(n, id)
            local r = redis.call('HGET', endpointsKey(n, id), id)
            return r and unpackRecord(r)
        end
        local function setField(n, bucket, key, field, value)
            if redis.call('HSET', key, field, value) == 1 then redis.call('ZADD', bucketsKey(n), 0, bucket) end
        end
        local function dropFields(n, bucket, key, ...)
            redis.call('HDEL', key, ...)
            if redis.call('EXISTS', key) == 0 then redis.call('ZREM', bucketsKey(n), bucket) end
        end
        local function writeRecord(n, id, e)
            local flags = (e.enabled and 1 or 0) + (e.isHex and 2 or 0) + (e.isShared and 4 or 0)
            local r = struct.pack('>BI6I4', flags, e.registered, e.generation) .. e.token
            setField(n, bucketOf(id), endpointsKey(n, id), id, r)
        end
        local function userOf(n, id) return redis.call('HGET', endpointsKey(n, id), id .. 'u') end
        local function indexUser(n, id, user)
            local key, prefix = userKey(user)
            redis.call('ZADD', key, 0, prefix .. n .. ':' .. id)
        end
        local function forgetUser(n, id, user)
            local key, prefix = userKey(user)
            redis.call('ZREM', key, prefix .. n .. ':' .. id)
        end
        local function indexToken(n, id, token)
            local key, field, bucket = tokenKey(n, token)
            setField(n, bucket, key, field, id)
        end
        local function forgetToken(n, id, token)
            local key, field, bucket = tokenKey(n, token)
            if redis.call('HGET', key, field) == id then dropFields(n, bucket, key, field) end
        end
        -- Who has the token now: who was given it last, else who was made with it.
        local function holderOf(n, token, slots)
            local key, field = tokenKey(n, token)
            local id = redis.call('HGET', key, field)
            local e = id and recordOf(n, id)
            if e and e.token == token then return id, e end
            for _, slot in ipairs(slots) do
                e = recordOf(n, slot)
                if e and e.token == token then return slot, e end
            end
        end
        local function setDisabled(n, id, isDisabled)
            if isDisabled then redis.call('ZADD', P .. 'disabled', now, n .. ':' .. id)
            else redis.call('ZREM', P .. 'disabled', n .. ':' .. id) end
        end
        local function described(n, id, app)
            local key = endpointsKey(n, id)
            local found = redis.call('HMGET', key, id, id .. 'u')
            if not found[1] then return end
            local e = unpackRecord(found[1])
            return { app or string.sub(redis.call('HGET', P .. 'numbers', n) or 'a', 2), id, e.flags, text(e.registered),
                e.generation, e.token, found[2] and 1 or 0, found[2] or '' }
        end
        -- A colon ends the number in members of the form <n>:<id>.
        local function splitMember(member)
            local colon = string.find(member, ':', 1, true)
            return string.sub(member, 1, colon - 1), string.sub(member, colon + 1)
        end

        """#
}
