internal import Store

/// Every key of the registry in Redis. This file is the key schema, and the one place where keys are made.
///
/// All keys but those of publishes share the hash tag `{apps}` with the apps of the fleet, so that one script can change
/// a platform application, its app, its credential, endpoints and subscriptions together. A Redis Cluster accepts every
/// script, and keeps the whole registry on one of its nodes: spreading it would cost the scripts their atomicity. A call
/// declares one key; those that depend on what the script reads are made inside of it, in the same slot.
///
/// Nothing here has a time to live, but for publishes: it is what users registered.
///
/// | key, after `pf:sns:{apps}:` | type | what | bound |
/// |---|---|---|---|
/// | `serial` | string | last number given to an application or topic | |
/// | `numbers` | hash | number: `a<platform>/<name>` or `t<topic>`; what short keys and members mean. Those of topics go when swept, those of applications stay, for subscriptions that name them | applications and topics ever made |
/// | `apps` | sorted set by name | `<platform>/<name>` | |
/// | `app:<platform>/<name>` | hash | `n` number, `created` ms, `endpoints` how many, `fleet` the app of the fleet that sends for it, `@<attribute>` | |
/// | `e:<n>:<hhhh>` | hash | endpoints of application n whose id begins with these 16 bits, see below | 15 at 1 million, 128 at 8 million endpoints, so that it stays a listpack |
/// | `eb:<n>` | sorted set by name | the `hhhh` for which `e:<n>:` exists | 65,536 |
/// | `u:<hhhh>` | sorted set by name | `<12 digits of the hash of the user data><n>:<id>` | |
/// | `disabled` | sorted set | `<n>:<id>` by ms since when it is disabled | |
/// | `r:<n>:<hhhh>` | sorted set by name | subscriptions of endpoints: `<endpoint id><topic n>:<subscription id>` | |
/// | `topics` | sorted set by name | topic names | |
/// | `topic:<name>` | hash | `n` number, `created` ms, `@<attribute>`, `#<tag>` | 50 tags |
/// | `s:<n>` | sorted set by name | subscriptions of topic n: `<id>a<application n>:<endpoint id>`, or for other protocols `<id>x<protocol> <endpoint>` | |
/// | `f:<n>` | hash | subscription id: its attributes in MessagePack, if it has any | |
/// | `dangling` | sorted set | `<n>:<endpoint id>` that went and had subscriptions, by ms | |
/// | `dead` | sorted set | `a<n>` and `t<n>` that were deleted and are still to be swept, by ms | |
///
/// Ids are 16 bytes. `hhhh` are four hexadecimal digits; lists by name are sorted sets with score 0. Fields of `e:`:
///
/// | field | value |
/// |---|---|
/// | `<id>` | flags (1 byte: 1 enabled, 2 the token is packed hexadecimal, 4 another endpoint had the same token), ms since when it has the token (6 bytes), generation of the token (4 bytes), the token |
/// | `<id>u` | the user data, if there are any |
/// | `t<16 digits of the hash of a token>` | id of the endpoint that was given the token last, if that was not when it was made: bucket and digits are those of the hash. Endpoints that still have their first token are found by their id, which derives from it |
///
/// | key | type | what | lives |
/// |---|---|---|---|
/// | `pf:once:{<access key>:<invocation>:<body hash>}` | string | `pending <message id>` or `done <message id>` | 15 min |
///
/// Hashes are SHA-1. Times are those of Redis.
enum RegistryKeys {
    static let prefix = "pf:sns:{apps}:"

    /// What every call declares.
    static let numbers = prefix + "numbers"

    static func once(_ call: PublishCall) -> String {
        "pf:once:{\(call.accessKey):\(call.invocation):\(call.bodyHash)}"
    }
    static let onceLife = Duration.seconds(900)

    /// How scripts make keys.
    static let lua = #"""
        local P = '\#(prefix)'
        local function hex(bytes)
            return (string.gsub(bytes, '.', function(c) return string.format('%02x', string.byte(c)) end))
        end
        local function bucketOf(id) return string.format('%02x%02x', string.byte(id, 1, 2)) end
        local function endpointsKey(n, id) return P .. 'e:' .. n .. ':' .. bucketOf(id) end
        local function bucketsKey(n) return P .. 'eb:' .. n end
        local function appKey(app) return P .. 'app:' .. app end
        local function topicKey(topic) return P .. 'topic:' .. topic end
        local function reverseKey(n, id) return P .. 'r:' .. n .. ':' .. bucketOf(id) end
        local function subscriptionsKey(n) return P .. 's:' .. n end
        local function attributesKey(n) return P .. 'f:' .. n end
        local function tokenKey(n, token)
            local h = redis.sha1hex(token)
            return P .. 'e:' .. n .. ':' .. string.sub(h, 1, 4), 't' .. string.sub(h, 5, 20), string.sub(h, 1, 4)
        end
        local function userKey(user)
            local h = redis.sha1hex(user)
            return P .. 'u:' .. string.sub(h, 1, 4), string.sub(h, 5, 16)
        end

        """#
}

/// The scripts' common parts.
enum RegistryScript {
    /// - Parameter parts: Lua, in order.
    static func make(_ parts: String...) -> Script {
        Script(RegistryKeys.lua + self.common + parts.joined())
    }

    static func call(_ script: Script) -> ScriptCall {
        ScriptCall(script, keys: [RegistryKeys.numbers])
    }

    private static let common = #"""
        local clock = redis.call('TIME')
        local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
        local at = 0
        local function arg()
            at = at + 1
            return ARGV[at]
        end
        local function pairsOf()
            local all = {}
            for i = 1, tonumber(arg()) do
                local name = arg()
                all[i] = { name, arg() }
            end
            return all
        end
        local function optional()
            local given = arg() == '1'
            local value = arg()
            return given and value or nil
        end
        local function text(number) return string.format('%.0f', number) end
        local function number() return text(redis.call('INCR', P .. 'serial')) end
        -- The names in a sorted set after one, and whether there are more.
        local function namesAfter(key, after, limit)
            local from = after == '' and '-' or '(' .. after
            local found = redis.call('ZRANGEBYLEX', key, from, '+', 'LIMIT', 0, limit + 1)
            local more = #found > limit
            if more then found[#found] = nil end
            return found, more
        end
        local function withPrefix(map, flat, prefix)
            for i = 1, #flat, 2 do
                if string.sub(flat[i], 1, 1) == prefix then
                    map[#map + 1] = string.sub(flat[i], 2)
                    map[#map + 1] = flat[i + 1]
                end
            end
            return map
        end

        """#

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

    /// How subscriptions go.
    static let subscriptions = #"""
        local function reverseOf(n, id, limit)
            return redis.call('ZRANGEBYLEX', reverseKey(n, id), '[' .. id, '(' .. id .. '\255', 'LIMIT', 0, limit)
        end
        local function dropSubscription(topicNumber, member)
            local id = string.sub(member, 1, 16)
            redis.call('ZREM', subscriptionsKey(topicNumber), member)
            redis.call('HDEL', attributesKey(topicNumber), id)
            if string.sub(member, 17, 17) == 'a' then
                local n, endpoint = splitMember(string.sub(member, 18))
                redis.call('ZREM', reverseKey(n, endpoint), endpoint .. topicNumber .. ':' .. id)
            end
        end
        local function subscriptionMember(topicNumber, id)
            return redis.call('ZRANGEBYLEX', subscriptionsKey(topicNumber), '[' .. id, '(' .. id .. '\255',
                'LIMIT', 0, 1)[1]
        end
        -- Ends some of an endpoint's subscriptions; how many.
        local function dropReverse(n, id, limit)
            local members = reverseOf(n, id, limit)
            for _, member in ipairs(members) do
                local topicNumber, subscription = splitMember(string.sub(member, 17))
                local found = subscriptionMember(topicNumber, subscription)
                if found then dropSubscription(topicNumber, found) end
                redis.call('ZREM', reverseKey(n, id), member)
            end
            return #members
        end
        local function removeEndpoint(n, id, app, cascades)
            local key = endpointsKey(n, id)
            local found = redis.call('HMGET', key, id, id .. 'u')
            if not found[1] then return false end
            local e = unpackRecord(found[1])
            forgetToken(n, id, e.token)
            if found[2] then forgetUser(n, id, found[2]) end
            dropFields(n, bucketOf(id), key, id, id .. 'u')
            if not e.enabled then setDisabled(n, id, false) end
            redis.call('HINCRBY', appKey(app), 'endpoints', -1)
            if #reverseOf(n, id, 1) > 0 and not (cascades and dropReverse(n, id, 100) < 100) then
                redis.call('ZADD', P .. 'dangling', now, n .. ':' .. id)
            end
            return true
        end

        """#
}
