/// What the fleet knows of an app in Redis, in Lua: one hash for all apps, and a version that every change raises.
///
/// The version never repeats, also not in a Redis that has lost its data: it is the server's time in microseconds, or one
/// more than the last. What was removed stays for a while as `removed <time>`: an app that is missing without that was
/// lost, and workers go on with it.
enum AppsScript {
    static let act = Script(source(now: ServerClock.milliseconds))

    /// KEYS: the hash, the version, the hash of sealed credentials. ARGV: `put` or `remove`, the app, and for `put` its
    /// value. Answers the version, and what there was before: the value, or an empty string for nothing. Nothing is
    /// written if nothing changes.
    /// - Parameter now: Lua that declares the local `now`; tests give the clock instead.
    static func source(now: String) -> String {
        now + #"""

            local memory = 30 * 86400000
            local all, counter, op, app = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
            local before = redis.call('HGET', all, app)
            local removed = before and string.match(before, '^removed %d+$')
            local version = tonumber(redis.call('GET', counter) or 0)
            local value = op == 'put' and ARGV[3] or string.format('removed %.0f', now)
            local changes = op == 'put' and before ~= value or op == 'remove' and not removed
            if changes then
                redis.call('HSET', all, app, value)
                -- The credential it brought along.
                if op == 'remove' and KEYS[3] then redis.call('HDEL', KEYS[3], app) end
                version = math.max(version + 1, now * 1000)
                redis.call('SET', counter, string.format('%.0f', version))
                -- Every worker has heard of it by now.
                local flat = redis.call('HGETALL', all)
                for i = 1, #flat, 2 do
                    local time = string.match(flat[i + 1], '^removed (%d+)$')
                    if time and tonumber(time) + memory < now then redis.call('HDEL', all, flat[i]) end
                end
            end
            return { string.format('%.0f', version), not removed and before or '' }
            """#
    }
}
