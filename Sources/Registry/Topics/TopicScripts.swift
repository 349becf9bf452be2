internal import Store

enum TopicScripts {
    /// ARGV: name, attributes, tags.
    static let create = RegistryScript.make(
        #"""
        local topic = arg()
        local attributes = pairsOf()
        local tags = pairsOf()
        local key = topicKey(topic)
        if redis.call('EXISTS', key) == 1 then
            for _, pair in ipairs(attributes) do
                if redis.call('HGET', key, '@' .. pair[1]) ~= pair[2] then return { 'otherAttributes' } end
            end
            for _, pair in ipairs(tags) do
                if redis.call('HGET', key, '#' .. pair[1]) ~= pair[2] then return { 'otherTags' } end
            end
            return { 'existing' }
        end
        local n = number()
        redis.call('HSET', key, 'n', n, 'created', text(now))
        for _, pair in ipairs(attributes) do redis.call('HSET', key, '@' .. pair[1], pair[2]) end
        for _, pair in ipairs(tags) do redis.call('HSET', key, '#' .. pair[1], pair[2]) end
        redis.call('HSET', P .. 'numbers', n, 't' .. topic)
        redis.call('ZADD', P .. 'topics', 0, topic)
        return { 'created' }
        """#
    )

    /// ARGV: name.
    static let get = RegistryScript.make(
        #"""
        local flat = redis.call('HGETALL', topicKey(arg()))
        if #flat == 0 then return {} end
        local fields = {}
        for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
        return { fields.created, redis.call('ZCARD', subscriptionsKey(fields.n)), withPrefix({}, flat, '@'),
            withPrefix({}, flat, '#'), fields.pending or 0 }
        """#
    )

    /// ARGV: name, attributes.
    static let set = RegistryScript.make(
        #"""
        local key = topicKey(arg())
        if redis.call('EXISTS', key) == 0 then return { 'missing' } end
        local changes = false
        for _, pair in ipairs(pairsOf()) do
            if redis.call('HGET', key, '@' .. pair[1]) ~= pair[2] then
                redis.call('HSET', key, '@' .. pair[1], pair[2])
                changes = true
            end
        end
        return { changes and 'changed' or 'unchanged' }
        """#
    )

    /// ARGV: name to go on after, limit.
    static let list = RegistryScript.make(
        #"""
        local names, more = namesAfter(P .. 'topics', arg(), tonumber(arg()))
        return { more and names[#names] or '', names }
        """#
    )

    /// ARGV: name. Subscriptions are out of reach at once, and swept later.
    static let delete = RegistryScript.make(
        #"""
        local topic = arg()
        local n = redis.call('HGET', topicKey(topic), 'n')
        if not n then return { 'absent' } end
        redis.call('DEL', topicKey(topic))
        redis.call('ZREM', P .. 'topics', topic)
        redis.call('ZADD', P .. 'dead', now, 't' .. n)
        return { 'removed' }
        """#
    )

    /// ARGV: name, tags, most tags.
    static let tag = RegistryScript.make(
        #"""
        local key = topicKey(arg())
        local tags = pairsOf()
        local most = tonumber(arg())
        if redis.call('EXISTS', key) == 0 then return { 'noTopic' } end
        local count = 0
        for _, field in ipairs(redis.call('HKEYS', key)) do
            if string.sub(field, 1, 1) == '#' then count = count + 1 end
        end
        for _, pair in ipairs(tags) do
            if redis.call('HEXISTS', key, '#' .. pair[1]) == 0 then count = count + 1 end
        end
        if count > most then return { 'tooMany' } end
        for _, pair in ipairs(tags) do redis.call('HSET', key, '#' .. pair[1], pair[2]) end
        return { 'tagged' }
        """#
    )

    /// ARGV: name, tag keys.
    static let untag = RegistryScript.make(
        #"""
        local key = topicKey(arg())
        if redis.call('EXISTS', key) == 0 then return { 'missing' } end
        local count = 0
        for i = 1, tonumber(arg()) do count = count + redis.call('HDEL', key, '#' .. arg()) end
        return { count > 0 and 'changed' or 'unchanged' }
        """#
    )
}
