internal import Store

enum ApplicationScripts {
    /// What an app of the fleet needs: settings, credential, and the version that workers look at.
    private static let fleet = #"""
        local all, credentials, counter = '\#(Keys.apps)', '\#(Keys.appCredentials)', '\#(Keys.appsVersion)'
        local function raiseVersion()
            local version = math.max(tonumber(redis.call('GET', counter) or 0) + 1, now * 1000)
            redis.call('SET', counter, text(version))
        end
        local function putFleetApp(id, settings, credential)
            local changes = redis.call('HGET', all, id) ~= settings
            if credential and redis.call('HGET', credentials, id) ~= credential then
                redis.call('HSET', credentials, id, credential)
                changes = true
            end
            if not changes then return false end
            redis.call('HSET', all, id, settings)
            raiseVersion()
            return true
        end
        local function removeFleetApp(id)
            redis.call('HSET', all, id, 'removed ' .. text(now))
            redis.call('HDEL', credentials, id)
            raiseVersion()
        end

        """#

    /// ARGV: `create` or `set`, name, attributes, and the app of the fleet: whether there is one, its id, settings,
    /// credential.
    static let put = RegistryScript.make(
        Self.fleet,
        #"""
        local op, app = arg(), arg()
        local attributes = pairsOf()
        local fleet = optional()
        local settings = arg()
        local credential = optional()
        local key = appKey(app)
        local exists = redis.call('EXISTS', key) == 1
        if not exists and op == 'set' then return { 'missing' } end
        local changes = false
        if not exists then
            local n = number()
            redis.call('HSET', key, 'n', n, 'created', text(now), 'endpoints', 0, '@Enabled', 'true')
            redis.call('HSET', P .. 'numbers', n, 'a' .. app)
            redis.call('ZADD', P .. 'apps', 0, app)
            changes = true
        end
        for _, pair in ipairs(attributes) do
            if redis.call('HGET', key, '@' .. pair[1]) ~= pair[2] then
                redis.call('HSET', key, '@' .. pair[1], pair[2])
                changes = true
            end
        end
        if fleet then
            local before = redis.call('HGET', key, 'fleet')
            if before ~= fleet then
                redis.call('HSET', key, 'fleet', fleet)
                if before then removeFleetApp(before) end
                changes = true
            end
            if putFleetApp(fleet, settings, credential) then changes = true end
        end
        if op == 'create' then return { exists and 'existing' or 'created' } end
        return { changes and 'changed' or 'unchanged' }
        """#
    )

    private static let reading = #"""
        local function described(app)
            local flat = redis.call('HGETALL', appKey(app))
            if #flat == 0 then return end
            local fields = {}
            for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
            return { app, fields.created, fields.endpoints, fields.fleet or '', withPrefix({}, flat, '@') }
        end

        """#

    /// ARGV: name.
    static let get = RegistryScript.make(Self.reading, "return described(arg()) or {}")

    /// ARGV: name to go on after, limit.
    static let list = RegistryScript.make(
        Self.reading,
        #"""
        local names, more = namesAfter(P .. 'apps', arg(), tonumber(arg()))
        local all = { more and names[#names] or '' }
        for _, name in ipairs(names) do all[#all + 1] = described(name) end
        return all
        """#
    )

    /// ARGV: name. Endpoints are out of reach at once, and swept later.
    static let delete = RegistryScript.make(
        Self.fleet,
        #"""
        local app = arg()
        local key = appKey(app)
        local found = redis.call('HMGET', key, 'n', 'fleet')
        if not found[1] then return { 'absent' } end
        redis.call('DEL', key)
        redis.call('ZREM', P .. 'apps', app)
        redis.call('ZADD', P .. 'dead', now, 'a' .. found[1])
        if found[2] then removeFleetApp(found[2]) end
        return { 'removed' }
        """#
    )
}
