internal import Store

enum EndpointScripts {
    private static let appNumber = "local function appNumber(app) return redis.call('HGET', appKey(app), 'n') end\n"
    private static let slots = "local function slotsOf() return { arg(), arg(), arg() } end\n"

    private static func make(_ body: String) -> Script {
        RegistryScript.make(RegistryScript.endpoints, self.appNumber, self.slots, body)
    }

    /// ARGV: application, token, whether it is packed, three slots, `1`, `0` or nothing for enabled, user data, an id for
    /// when all slots are taken.
    static let create = Self.make(
        #"""
        local app, token, isHex = arg(), arg(), arg() == '1'
        local slots, wanted, user, spare = slotsOf(), arg(), optional(), optional()
        local n = appNumber(app)
        if not n then return { 'noApplication' } end
        local id, e = holderOf(n, token, slots)
        if id then
            local same = (userOf(n, id) or nil) == user and (wanted == '' or (wanted == '1') == e.enabled)
            return { same and 'existing' or 'conflict', id }
        end
        slots[#slots + 1] = spare
        for _, slot in ipairs(slots) do
            if not recordOf(n, slot) then
                if slot == spare then indexToken(n, slot, token) end
                local enabled = wanted ~= '0'
                writeRecord(n, slot,
                    { enabled = enabled, isHex = isHex, registered = now, generation = 1, token = token })
                if user then
                    setField(n, bucketOf(slot), endpointsKey(n, slot), slot .. 'u', user)
                    indexUser(n, slot, user)
                end
                if not enabled then setDisabled(n, slot, true) end
                redis.call('HINCRBY', appKey(app), 'endpoints', 1)
                return { 'created', slot }
            end
        end
        return { 'slotsTaken' }
        """#
    )

    /// ARGV: application, id.
    static let get = Self.make(
        #"""
        local app, id = arg(), arg()
        local n = appNumber(app)
        return n and described(n, id, app) or {}
        """#
    )

    /// What a publish needs, with as little work as it can. ARGV: application, id.
    static let target = Self.make(
        #"""
        local app, id = arg(), arg()
        local found = redis.call('HMGET', appKey(app), 'n', '@Enabled', 'fleet')
        local all = found[1] and described(found[1], id, app)
        if not all then return {} end
        return { found[2] == 'false' and 0 or 1, found[3] or '', all }
        """#
    )

    /// ARGV: application, token, three slots.
    static let byToken = Self.make(
        #"""
        local app, token = arg(), arg()
        local slots = slotsOf()
        local n = appNumber(app)
        local id = n and holderOf(n, token, slots)
        return id and described(n, id, app) or {}
        """#
    )

    /// ARGV: application, id, whether there is a token, the token, whether it is packed, its three slots, enabled, user
    /// data.
    static let set = Self.make(
        #"""
        local app, id, token, isHex = arg(), arg(), optional(), arg() == '1'
        local slots, wanted, user = slotsOf(), arg(), optional()
        local n = appNumber(app)
        local e = n and recordOf(n, id)
        if not e then return { 'missing' } end
        local changes, writes = false, false
        if token and token ~= e.token then
            local other, o = holderOf(n, token, slots)
            if other and other ~= id then
                e.isShared = true
                if not o.isShared then
                    o.isShared = true
                    writeRecord(n, other, o)
                end
            end
            forgetToken(n, id, e.token)
            e.token, e.isHex, e.registered, e.generation = token, isHex, now, (e.generation + 1) % 4294967296
            indexToken(n, id, token)
            changes = true
        elseif token then
            -- Somebody says that it is still good.
            e.registered, writes = now, true
        end
        if wanted ~= '' and (wanted == '1') ~= e.enabled then
            e.enabled = wanted == '1'
            if e.enabled then e.registered = now end
            setDisabled(n, id, not e.enabled)
            changes = true
        end
        if changes or writes then writeRecord(n, id, e) end
        if user then
            local before = userOf(n, id)
            if before ~= user then
                if before then forgetUser(n, id, before) end
                setField(n, bucketOf(id), endpointsKey(n, id), id .. 'u', user)
                indexUser(n, id, user)
                changes = true
            end
        end
        return { changes and 'changed' or 'unchanged' }
        """#
    )

    /// ARGV: application, id, `1` if its subscriptions go too.
    static let delete = RegistryScript.make(
        RegistryScript.endpoints,
        RegistryScript.subscriptions,
        Self.appNumber,
        #"""
        local app, id, cascades = arg(), arg(), arg() == '1'
        local n = appNumber(app)
        return { n and removeEndpoint(n, id, app, cascades) and 'removed' or 'absent' }
        """#
    )

    /// ARGV: application, id or nothing to go on after, limit. The next key comes first, then as many endpoints.
    static let list = Self.make(
        #"""
        local app, after, limit = arg(), arg(), tonumber(arg())
        local function orderOf(id) return string.format('%012x%012x%08x', struct.unpack('>I6I6I4', id)) end
        local n = appNumber(app)
        if not n then return { 'noApplication' } end
        local from = after == '' and '-' or '[' .. bucketOf(after)
        local all, last, more, looks = { 'page', '' }, nil, false, 0
        while not more and looks < 512 do
            local buckets = redis.call('ZRANGEBYLEX', bucketsKey(n), from, '+', 'LIMIT', 0, 32)
            if #buckets == 0 then return all end
            for _, bucket in ipairs(buckets) do
                looks = looks + 1
                from = '(' .. bucket
                local flat = redis.call('HGETALL', P .. 'e:' .. n .. ':' .. bucket)
                local records, users, ids = {}, {}, {}
                local border = after == '' and '' or orderOf(after)
                for i = 1, #flat, 2 do
                    local field = flat[i]
                    if #field == 16 then
                        local order = orderOf(field)
                        if order > border then
                            ids[#ids + 1] = order
                            records[order] = { field, flat[i + 1] }
                        end
                    elseif #field == 17 then
                        users[string.sub(field, 1, 16)] = flat[i + 1]
                    end
                end
                -- Hexadecimal digits have one order in every locale, which bytes have not.
                table.sort(ids)
                for _, order in ipairs(ids) do
                    if #all - 2 == limit then
                        more = true
                        break
                    end
                    local id, e = records[order][1], unpackRecord(records[order][2])
                    local user = users[id]
                    last = id
                    all[#all + 1] = { app, id, e.flags, text(e.registered), e.generation, e.token, user and 1 or 0,
                        user or '' }
                end
                if more then break end
                last = string.char(tonumber(string.sub(bucket, 1, 2), 16), tonumber(string.sub(bucket, 3, 4), 16))
                    .. string.rep('\255', 14)
            end
        end
        all[2] = last or ''
        return all
        """#
    )

    /// ARGV: user data, key to go on after, limit. The next key comes first.
    static let byUser = Self.make(
        #"""
        local user, after, limit = arg(), arg(), tonumber(arg())
        local key, prefix = userKey(user)
        local from = after == '' and '[' .. prefix or '(' .. prefix .. after
        local members = redis.call('ZRANGEBYLEX', key, from, '(' .. prefix .. '\255', 'LIMIT', 0, limit + 1)
        local all = { #members > limit and string.sub(members[limit], 13) or '' }
        for i = 1, math.min(#members, limit) do
            local n, endpoint = splitMember(string.sub(members[i], 13))
            local name = redis.call('HGET', P .. 'numbers', n)
            -- Not one of an application that was deleted, nor of other user data with the same hash.
            if name and appNumber(string.sub(name, 2)) == n and userOf(n, endpoint) == user then
                all[#all + 1] = described(n, endpoint)
            end
        end
        return all
        """#
    )

    /// ARGV: application, token, three slots, the endpoint or nothing, its generation or nothing, since when the token is
    /// not valid or nothing.
    static let disable = Self.make(
        #"""
        local app, token = arg(), arg()
        local slots, id, generation, since = slotsOf(), arg(), arg(), tonumber(arg())
        local n = appNumber(app)
        if not n then return { 'noEndpoint' } end
        local e
        if id == '' then id, e = holderOf(n, token, slots) else e = recordOf(n, id) end
        if not e then return { 'noEndpoint' } end
        if e.token ~= token or generation ~= '' and tonumber(generation) ~= e.generation then
            return { 'otherToken', id }
        end
        if not e.enabled then return { 'alreadyDisabled', id } end
        if since and e.registered >= since then return { 'registeredLater', id } end
        e.enabled = false
        writeRecord(n, id, e)
        setDisabled(n, id, true)
        return { 'disabled', id }
        """#
    )
}
