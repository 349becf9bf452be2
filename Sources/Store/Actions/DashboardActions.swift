internal import Push

/// What people did at dashboards, the newest first; each entry is text of the dashboard's.
package enum DashboardActions {
    private static let script = Script(
        """
        redis.call('LPUSH', KEYS[1], ARGV[1])
        redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
        redis.call('PEXPIRE', KEYS[1], ARGV[3])
        return 1
        """
    )

    /// Adds one and forgets those beyond `limit`. Run twice, it stands there twice.
    package static func add(_ entry: String, limit: Int) -> ScriptCall {
        var call = ScriptCall(self.script, keys: [Keys.dashboardActions])
        call.add(entry)
        call.add(limit)
        call.add(milliseconds: Keys.actionsLife)
        return call
    }

    package static func read(limit: Int) -> RedisCommand {
        var command = RedisCommand("LRANGE", Keys.dashboardActions, "0")
        command.add(limit - 1)
        return command
    }
}
