extension RegistryScript {
    /// How subscriptions go.
    static let subscriptions = #"""
        local function reverseOf(n, id, limit)
            return redis.call('ZRANGEBYLEX', reverseKey(n, id), '[' .. id, '(' .. id .. '\255', 'LIMIT', 0, limit)
        end
        -- One more or less of a topic's subscriptions waits for its confirmation.
        local function countPending(topicNumber, id, step)
            if step > 0 then redis.call('ZADD', P .. 'pending', now + step, topicNumber .. ':' .. id)
            else redis.call('ZREM', P .. 'pending', topicNumber .. ':' .. id) end
            local key = topicKey(string.sub(redis.call('HGET', P .. 'numbers', topicNumber) or 'a', 2))
            if redis.call('HGET', key, 'n') == topicNumber then
                redis.call('HINCRBY', key, 'pending', step > 0 and 1 or -1)
            end
        end
        local function isPending(topicNumber, id)
            local packed = redis.call('HGET', attributesKey(topicNumber), id)
            return packed and cmsgpack.unpack(packed)['.pending'] ~= nil
        end
        local function dropSubscription(topicNumber, member)
            local id = string.sub(member, 1, 16)
            if string.sub(member, 17, 21) == 'xhttp' and isPending(topicNumber, id) then
                countPending(topicNumber, id, -1)
            end
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
