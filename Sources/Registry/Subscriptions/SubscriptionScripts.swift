internal import Store

enum SubscriptionScripts {
    private static let parts = #"""
        local function topicNumber(topic) return redis.call('HGET', topicKey(topic), 'n') end
        local function appNumber(app) return redis.call('HGET', appKey(app), 'n') end
        local function attributesOf(t, id)
            local packed = redis.call('HGET', attributesKey(t), id)
            return packed and cmsgpack.unpack(packed) or {}
        end
        local function setAttributes(t, id, attributes)
            if next(attributes) then redis.call('HSET', attributesKey(t), id, cmsgpack.pack(attributes))
            else redis.call('HDEL', attributesKey(t), id) end
        end
        local function nameOf(n) return string.sub(redis.call('HGET', P .. 'numbers', n) or 'a', 2) end
        -- Topic, id, `a`, application, endpoint id; or topic, id, `x`, protocol, endpoint. Attributes at the end.
        local function described(topic, t, member)
            local id, kind, rest = string.sub(member, 1, 16), string.sub(member, 17, 17), string.sub(member, 18)
            local one, other
            if kind == 'a' then
                one, other = splitMember(rest)
                one = nameOf(one)
            else
                local space = string.find(rest, ' ', 1, true)
                one, other = string.sub(rest, 1, space - 1), string.sub(rest, space + 1)
            end
            local flat = {}
            for name, value in pairs(attributesOf(t, id)) do
                flat[#flat + 1] = name
                flat[#flat + 1] = value
            end
            return { topic, id, kind, one, other, flat }
        end

        """#

    static func make(_ body: String) -> Script {
        RegistryScript.make(RegistryScript.endpoints, RegistryScript.subscriptions, self.parts, body)
    }

    /// ARGV: topic, id, `a` or `x`, application or protocol, endpoint, attributes.
    static let subscribe = Self.make(
        #"""
        local topic, id, kind, one, other = arg(), arg(), arg(), arg(), arg()
        local t = topicNumber(topic)
        if not t then return { 'noTopic' } end
        local n
        local member = id .. kind
        if kind == 'a' then
            n = appNumber(one)
            if not n or redis.call('HEXISTS', endpointsKey(n, other), other) == 0 then return { 'noEndpoint' } end
            member = member .. n .. ':' .. other
        else
            member = member .. one .. ' ' .. other
        end
        local found = subscriptionMember(t, id)
        -- One of an application that was deleted and made again names the old one.
        if found == member then
            local attributes = attributesOf(t, id)
            for _, pair in ipairs(pairsOf()) do
                if attributes[pair[1]] ~= pair[2] then return { 'otherAttributes', id } end
            end
            return { 'existing', id }
        end
        if found then dropSubscription(t, found) end
        redis.call('ZADD', subscriptionsKey(t), 0, member)
        if n then redis.call('ZADD', reverseKey(n, other), 0, other .. t .. ':' .. id) end
        local attributes = {}
        for _, pair in ipairs(pairsOf()) do attributes[pair[1]] = pair[2] end
        setAttributes(t, id, attributes)
        return { 'created', id }
        """#
    )

    /// ARGV: topic, id.
    static let get = Self.make(
        #"""
        local topic, id = arg(), arg()
        local t = topicNumber(topic)
        local found = t and subscriptionMember(t, id)
        return found and described(topic, t, found) or {}
        """#
    )

    /// ARGV: topic, id, attribute, its value or none.
    static let set = Self.make(
        #"""
        local t, id, name, value = topicNumber(arg()), arg(), arg(), optional()
        if not (t and subscriptionMember(t, id)) then return { 'missing' } end
        local attributes = attributesOf(t, id)
        if attributes[name] == value then return { 'unchanged' } end
        attributes[name] = value
        setAttributes(t, id, attributes)
        return { 'changed' }
        """#
    )

    private static let page = #"""
        local function membersAfter(t, after, limit)
            local from = after == '' and '-' or '(' .. after .. '\255'
            return redis.call('ZRANGEBYLEX', subscriptionsKey(t), from, '+', 'LIMIT', 0, limit)
        end

        """#

    /// ARGV: topic, id to go on after, limit. The next key comes first.
    static let byTopic = Self.make(
        Self.page + #"""
            local topic, after, limit = arg(), arg(), tonumber(arg())
            local t = topicNumber(topic)
            if not t then return { 'noTopic' } end
            local members = membersAfter(t, after, limit + 1)
            local all = { 'page', #members > limit and string.sub(members[limit], 1, 16) or '' }
            for i = 1, math.min(#members, limit) do all[#all + 1] = described(topic, t, members[i]) end
            return all
            """#
    )

    /// Those of all topics. ARGV: topic and id to go on after, limit. The next topic and id come first.
    static let all = Self.make(
        Self.page + #"""
            local topic, after, limit = arg(), arg(), tonumber(arg())
            local all, looks = { '', '' }, 0
            local from = topic == '' and '-' or '[' .. topic
            while true do
                local topics = redis.call('ZRANGEBYLEX', P .. 'topics', from, '+', 'LIMIT', 0, 100)
                for _, name in ipairs(topics) do
                    local t = topicNumber(name)
                    local members = membersAfter(t, name == topic and after or '', limit + 3 - #all)
                    for _, member in ipairs(members) do
                        if #all - 2 == limit then return all end
                        all[#all + 1] = described(name, t, member)
                        all[1], all[2] = name, string.sub(member, 1, 16)
                    end
                    looks = looks + 1
                    if looks == 1000 then
                        all[1], all[2] = name, string.rep('\255', 16)
                        return all
                    end
                    from = '(' .. name
                end
                if #topics < 100 then
                    all[1], all[2] = '', ''
                    return all
                end
            end
            """#
    )

    /// ARGV: application, endpoint id, topic number and subscription to go on after, limit. The next key comes first.
    static let byEndpoint = Self.make(
        #"""
        local app, id, after, limit = arg(), arg(), arg(), tonumber(arg())
        local n = appNumber(app)
        if not n then return { '' } end
        local from = after == '' and '[' .. id or '(' .. id .. after
        local members = redis.call('ZRANGEBYLEX', reverseKey(n, id), from, '(' .. id .. '\255', 'LIMIT', 0, limit + 1)
        local all = { #members > limit and string.sub(members[limit], 17) or '' }
        for i = 1, math.min(#members, limit) do
            local t, subscription = splitMember(string.sub(members[i], 17))
            local topic = nameOf(t)
            local found = topicNumber(topic) == t and subscriptionMember(t, subscription)
            if found then all[#all + 1] = described(topic, t, found) end
        end
        return all
        """#
    )

    /// What a publish to a topic needs. ARGV: topic, id to go on after, limit. The next key comes first, then by
    /// application number its name, whether it is enabled, its app and whether its deliveries are logged; then some of
    /// the topic's attributes; then the recipients: id, kind, policy, scope, and for endpoints application number and
    /// description, for others protocol, endpoint and three attributes.
    static let recipients = Self.make(
        Self.page + #"""
            local topic, after, limit = arg(), arg(), tonumber(arg())
            local t = topicNumber(topic)
            if not t then return { 'noTopic' } end
            local members = membersAfter(t, after, limit + 1)
            local apps, known = {}, {}
            local settings = redis.call('HMGET', topicKey(topic), '@SignatureVersion', '@DeliveryPolicy',
                '@ApplicationSuccessFeedbackRoleArn', '@ApplicationFailureFeedbackRoleArn')
            for i = 1, 4 do settings[i] = settings[i] or '' end
            local all = { 'page', #members > limit and string.sub(members[limit], 1, 16) or '', apps, settings }
            local hasAttributes = redis.call('EXISTS', attributesKey(t)) == 1
            for i = 1, math.min(#members, limit) do
                local member = members[i]
                local id, kind = string.sub(member, 1, 16), string.sub(member, 17, 17)
                local attributes = hasAttributes and attributesOf(t, id) or {}
                local item = { id, kind, attributes.FilterPolicy or '', attributes.FilterPolicyScope or '' }
                local rest = string.sub(member, 18)
                if kind == 'a' then
                    local n, endpoint = splitMember(rest)
                    if known[n] == nil then
                        local name = nameOf(n)
                        local found = redis.call('HMGET', appKey(name), 'n', '@Enabled', 'fleet',
                            '@SuccessFeedbackRoleArn', '@FailureFeedbackRoleArn')
                        known[n] = found[1] == n
                        if known[n] then
                            local isLogged = (found[4] or '') ~= '' or (found[5] or '') ~= ''
                            apps[#apps + 1] = { n, name, found[2] == 'false' and 0 or 1, found[3] or '',
                                isLogged and 1 or 0 }
                        end
                    end
                    local r = known[n] and redis.call('HMGET', endpointsKey(n, endpoint), endpoint, endpoint .. 'u')
                    if r and r[1] then
                        local e = unpackRecord(r[1])
                        item[5], item[6], item[7], item[8], item[9] = n, endpoint, e.flags, text(e.registered),
                            e.generation
                        item[10], item[11], item[12] = e.token, r[2] and 1 or 0, r[2] or ''
                    end
                else
                    local space = string.find(rest, ' ', 1, true)
                    item[5], item[6] = string.sub(rest, 1, space - 1), string.sub(rest, space + 1)
                    item[7], item[8], item[9] = attributes.RawMessageDelivery or '', attributes.RedrivePolicy or '',
                        attributes.DeliveryPolicy or ''
                end
                -- Who has not confirmed gets nothing.
                if not attributes['.pending'] then all[#all + 1] = item end
            end
            return all
            """#
    )
}
