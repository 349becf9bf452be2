internal import Store

/// Subscriptions of http subscribers, who have to say themselves that they want to be ones.
///
/// Their ids derive from topic, subscriber and a secret: who has an id has been told it, and may end the subscription.
enum ConfirmationScripts {
    /// ARGV: topic, protocol, endpoint, token, secret if there is none yet, ms to confirm it, principal, attributes. One that
    /// waits already keeps its token and gets new time.
    static let subscribe = SubscriptionScripts.make(
        #"""
        local topic, name, endpoint, token, secret = arg(), arg(), arg(), arg(), arg()
        local life, principal = tonumber(arg()), arg()
        local t = topicNumber(topic)
        if not t then return { 'noTopic' } end
        redis.call('SET', P .. 'secret', secret, 'NX')
        secret = redis.call('GET', P .. 'secret')
        local digest = redis.sha1hex(secret .. t .. ' ' .. topic .. ' ' .. name .. ' ' .. endpoint)
        local bytes = {}
        for i = 1, 16 do bytes[i] = tonumber(string.sub(digest, 2 * i - 1, 2 * i), 16) end
        -- A random UUID in shape (RFC 9562 section 5.4).
        bytes[7], bytes[9] = 0x40 + bytes[7] % 16, 0x80 + bytes[9] % 64
        local id = string.char(unpack(bytes))
        local found = subscriptionMember(t, id)
        if found then
            local attributes = attributesOf(t, id)
            for _, pair in ipairs(pairsOf()) do
                if attributes[pair[1]] ~= pair[2] then return { 'otherAttributes', id } end
            end
            if not attributes['.pending'] then return { 'existing', id } end
            redis.call('ZADD', P .. 'pending', now + life, t .. ':' .. id)
            return { 'pending', id, attributes['.token'] }
        end
        redis.call('DEL', P .. 'restore:' .. t .. ':' .. id)
        local attributes = { ['.token'] = token, ['.pending'] = '1', ['.principal'] = principal }
        for _, pair in ipairs(pairsOf()) do attributes[pair[1]] = pair[2] end
        redis.call('ZADD', subscriptionsKey(t), 0, id .. 'x' .. name .. ' ' .. endpoint)
        setAttributes(t, id, attributes)
        countPending(t, id, life)
        return { 'pending', id, token }
        """#
    )

    /// ARGV: topic, id, token, `1` if the call is signed, `1` if only signed calls may end the subscription. A second time it
    /// changes nothing.
    static let confirm = SubscriptionScripts.make(
        #"""
        local topic, id, token, isSigned, needsSignature = arg(), arg(), arg(), arg(), arg()
        local t = topicNumber(topic)
        if not t then return { 'noTopic' } end
        local found = subscriptionMember(t, id)
        if not found then
            local key = P .. 'restore:' .. t .. ':' .. id
            local packed = redis.call('GET', key)
            local kept = packed and cmsgpack.unpack(packed)
            if not kept or kept[2]['.token'] ~= token then return { 'badToken' } end
            redis.call('DEL', key)
            redis.call('ZADD', subscriptionsKey(t), 0, kept[1])
            setAttributes(t, id, kept[2])
            return { 'confirmed' }
        end
        local attributes = attributesOf(t, id)
        if attributes['.token'] ~= token then return { 'badToken' } end
        if not attributes['.pending'] then return { 'confirmed' } end
        local deadline = redis.call('ZSCORE', P .. 'pending', t .. ':' .. id)
        if not deadline or tonumber(deadline) < now then return { 'badToken' } end
        countPending(t, id, -1)
        attributes['.pending'] = nil
        attributes['.authenticated'] = isSigned
        attributes['.authenticates'] = needsSignature
        setAttributes(t, id, attributes)
        return { 'confirmed' }
        """#
    )

    /// ARGV: topic, id, `1` if the call is signed, ms to take it back. An http subscription that was confirmed is kept for
    /// that long, out of everybody's sight; its protocol, endpoint and token are answered.
    static let unsubscribe = SubscriptionScripts.make(
        #"""
        local t, id, isSigned, life = topicNumber(arg()), arg(), arg(), tonumber(arg())
        local found = t and subscriptionMember(t, id)
        if not found then return { 'absent' } end
        local isWeb = string.sub(found, 17, 21) == 'xhttp'
        local attributes = isWeb and attributesOf(t, id) or {}
        if isSigned ~= '1' and (not isWeb or attributes['.authenticates'] == '1') then return { 'refused' } end
        dropSubscription(t, found)
        if not isWeb or attributes['.pending'] then return { 'removed' } end
        redis.call('SET', P .. 'restore:' .. t .. ':' .. id, cmsgpack.pack({ found, attributes }), 'PX', life)
        local rest = string.sub(found, 18)
        local space = string.find(rest, ' ', 1, true)
        return { 'removed', string.sub(rest, 1, space - 1), string.sub(rest, space + 1), attributes['.token'],
            attributes.DeliveryPolicy or '' }
        """#
    )
}
