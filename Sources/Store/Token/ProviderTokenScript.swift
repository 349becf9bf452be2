/// The shared provider token in Lua: one hash per signing key, `jwt`, `issued`, `owner`, `locked`.
enum ProviderTokenScript {
    static let ask = Script(askSource(now: ServerClock.milliseconds))
    static let store = Script(storeSource(now: ServerClock.milliseconds))

    /// Answers `{1, jwt, issued, age}` for a token to use, `{2, jwt or '', issued, age, lock}` when the caller is to make
    /// one, `{3, lock left}` when another worker is making one and there is none to use until then.
    ///
    /// A token from the future means that the server's clock went back: nothing is known about its age, and one new
    /// token too many does less harm than an hour of refused messages.
    static func askSource(now: String) -> String {
        """
        \(now)
        local id, wantsFresh, own, ownAge = ARGV[1], ARGV[2] == '1', ARGV[3], tonumber(ARGV[4])
        local reuse, pause, life, lock =
            tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
        local jwt, issued, owner, locked = unpack(redis.call('HMGET', KEYS[1], 'jwt', 'issued', 'owner', 'locked'))
        issued, locked = tonumber(issued or 0), tonumber(locked or 0)
        local age = now - issued
        if not jwt and own ~= '' and ownAge >= 0 and ownAge < reuse then
            jwt, age = own, ownAge
            issued = now - ownAge
            redis.call('HSET', KEYS[1], 'jwt', jwt, 'issued', string.format('%.0f', issued))
            redis.call('PEXPIRE', KEYS[1], math.floor(life - ownAge))
        end
        if jwt and age >= 0 and age < pause then return { 1, jwt, issued, age } end
        if jwt and age >= 0 and age < reuse and not wantsFresh then return { 1, jwt, issued, age } end
        if jwt and (age < 0 or age >= life) then jwt = false end
        if owner and owner ~= id and locked > now and locked <= now + lock then
            if jwt then return { 1, jwt, issued, age } end
            return { 3, locked - now }
        end
        redis.call('HSET', KEYS[1], 'owner', id, 'locked', string.format('%.0f', now + lock))
        if redis.call('PTTL', KEYS[1]) < lock then redis.call('PEXPIRE', KEYS[1], lock) end
        return { 2, jwt or '', issued, age, lock }
        """
    }

    /// Answers `{1, jwt, issued, age}` with the token to use, another one if the fleet got it back meanwhile, and `{0}`
    /// when the caller no longer holds the lock.
    static func storeSource(now: String) -> String {
        """
        \(now)
        local owner, locked, jwt, issued = unpack(redis.call('HMGET', KEYS[1], 'owner', 'locked', 'jwt', 'issued'))
        if jwt == ARGV[2] then return { 1, jwt, tonumber(issued), now - tonumber(issued) } end
        if owner ~= ARGV[1] or tonumber(locked) <= now then return { 0 } end
        local age = jwt and now - tonumber(issued) or -1
        if age >= 0 and age < tonumber(ARGV[4]) then return { 1, jwt, tonumber(issued), age } end
        redis.call('HSET', KEYS[1], 'jwt', ARGV[2], 'issued', string.format('%.0f', now))
        redis.call('HDEL', KEYS[1], 'owner', 'locked')
        redis.call('PEXPIRE', KEYS[1], ARGV[3])
        return { 1, ARGV[2], now, 0 }
        """
    }
}
