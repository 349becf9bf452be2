package import Push

/// What one worker tells about itself, every few seconds. In Redis a hash that vanishes when the worker does.
package struct WorkerBeat: Hashable, Sendable {
    package var id: String
    package var version: String
    package var host: String
    package var pid: Int
    package var startedAt: UnixTime
    /// By the clock of Redis; only read.
    package var lastBeat: UnixTime?
    /// APNs connections by budget pool; field `connections_held.<pool>`.
    package var connectionsHeld: [String: Int] = [:]
    /// Notifications at Apple by `<app>.<lane>`; field `in_flight.<app>.<lane>`.
    package var inFlight: [String: Int] = [:]
    /// Why it does not send for an app at present: `credential`, `suspects` or `outage`; field `paused.<app>`.
    package var paused: [String: String] = [:]
    /// When the certificates in use end, by budget pool; field `certificate_expires_at.<pool>`, milliseconds since
    /// 1970.
    package var certificatesExpireAt: [String: UnixTime] = [:]
    /// Since when, as far as this worker knows; field `paused_since.<app>`, milliseconds since 1970.
    package var pausedSince: [String: UnixTime] = [:]
    /// When the oldest message that it holds was published, by `<app>.<lane>`; field `oldest_in_hand.<app>.<lane>`,
    /// milliseconds since 1970.
    package var oldestInHand: [String: UnixTime] = [:]
    /// Messages it may hold unacknowledged.
    package var prefetch = 0
    /// Its number among the workers of its process (`--loops`), from 1; each has a heartbeat of its own.
    package var loop = 1
    /// Whether it is on its way out and takes nothing new; field `draining`, 0 or 1.
    package var isDraining = false

    package init(id: InstanceID, version: String, host: String, pid: Int, startedAt: UnixTime) {
        self.id = id.description
        self.version = version
        self.host = host
        self.pid = pid
        self.startedAt = startedAt
    }

    /// KEYS: the worker's hash, all workers, all pools. ARGV: id, its life, the pools' life, whether fields may have gone,
    /// number of pools, pools, fields and values.
    ///
    /// The fewer commands the better: fifty idle workers do this all day. Lists are tidied and prolonged once in a minute,
    /// and whenever the hash gets a field that it had not, be it that Redis has lost it.
    private static let beat = Script(
        """
        \(ServerClock.milliseconds)
        local text, pools = string.format('%.0f', now), tonumber(ARGV[5])
        if ARGV[4] == '1' then redis.call('DEL', KEYS[1]) end
        local new = redis.call('HSET', KEYS[1], 'last_beat', text)
        -- Lua can unpack only some thousand values at once.
        for i = 6 + pools, #ARGV, 1000 do
            new = new + redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
        end
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        redis.call('ZADD', KEYS[2], text, ARGV[1])
        if new == 0 and now % 60000 >= 4000 then return now end
        redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - ARGV[2]))
        redis.call('PEXPIRE', KEYS[2], 86400000)
        for i = 6, 5 + pools do redis.call('ZADD', KEYS[3], text, ARGV[i]) end
        redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', now - ARGV[3]))
        redis.call('PEXPIRE', KEYS[3], ARGV[3])
        return now
        """
    )
    private static let goodbye = Script(
        """
        redis.call('DEL', KEYS[1])
        return redis.call('ZREM', KEYS[2], ARGV[1])
        """
    )
    /// After this time without a beat a worker is no longer shown.
    static let life = Duration.seconds(60)

    /// Writes what it is now.
    /// - Parameter last: what stands in Redis; nil if that is not known.
    package func call(after last: WorkerBeat?) -> ScriptCall {
        var call = ScriptCall(Self.beat, keys: [Keys.worker(self.id), Keys.allWorkers, Keys.allPools])
        call.add(self.id)
        call.add(milliseconds: Self.life)
        call.add(milliseconds: Keys.counterLife)
        let fields = self.fields
        call.add(last.map { $0.fields.map(\.0) == fields.map(\.0) } == true ? 0 : 1)
        call.add(self.connectionsHeld.count)
        for pool in self.connectionsHeld.keys { call.add(pool) }
        for (name, value) in fields {
            call.add(name)
            call.add(value)
        }
        return call
    }

    /// Takes the worker off the list at once: it left in good order.
    package static func goodbye(_ id: InstanceID) -> ScriptCall {
        var call = ScriptCall(Self.goodbye, keys: [Keys.worker(id.description), Keys.allWorkers])
        call.add(id.description)
        return call
    }

    /// In the order of their names.
    private var fields: [(String, String)] {
        var fields = [
            ("version", self.version), ("host", self.host), ("pid", "\(self.pid)"),
            ("started_at", "\(self.startedAt.milliseconds)"), ("prefetch", "\(self.prefetch)"),
            ("loop", "\(self.loop)"), ("draining", self.isDraining ? "1" : "0"),
        ]
        fields += self.connectionsHeld.map { ("connections_held.\($0.key)", "\($0.value)") }
        fields += self.certificatesExpireAt.map { ("certificate_expires_at.\($0.key)", "\($0.value.milliseconds)") }
        fields += self.inFlight.map { ("in_flight.\($0.key)", "\($0.value)") }
        fields += self.paused.map { ("paused.\($0.key)", $0.value) }
        fields += self.pausedSince.map { ("paused_since.\($0.key)", "\($0.value.milliseconds)") }
        fields += self.oldestInHand.map { ("oldest_in_hand.\($0.key)", "\($0.value.milliseconds)") }
        return fields.sorted { $0.0 < $1.0 }
    }

    /// Reads what `call` has written.
    init?(id: String, _ fields: [String: RedisReply]) {
        guard let started = fields["started_at"]?.integer, let beat = fields["last_beat"]?.integer else { return nil }
        self.id = id
        self.version = fields["version"]?.text ?? ""
        self.host = fields["host"]?.text ?? ""
        self.pid = fields["pid"]?.integer.map(Int.init) ?? 0
        self.startedAt = UnixTime(milliseconds: started)
        self.lastBeat = UnixTime(milliseconds: beat)
        self.prefetch = fields["prefetch"]?.integer.map(Int.init) ?? 0
        self.connectionsHeld = Self.numbers(fields, after: "connections_held.")
        self.inFlight = Self.numbers(fields, after: "in_flight.")
        for (name, value) in fields where name.hasPrefix("paused.") {
            self.paused[String(name.dropFirst("paused.".count))] = value.text
        }
        self.loop = fields["loop"]?.integer.map(Int.init) ?? 1
        self.isDraining = fields["draining"]?.integer == 1
        self.certificatesExpireAt = Self.times(fields, after: "certificate_expires_at.")
        self.pausedSince = Self.times(fields, after: "paused_since.")
        self.oldestInHand = Self.times(fields, after: "oldest_in_hand.")
    }

    private static func times(_ fields: [String: RedisReply], after prefix: String) -> [String: UnixTime] {
        self.numbers(fields, after: prefix).mapValues { UnixTime(milliseconds: Int64($0)) }
    }

    private static func numbers(_ fields: [String: RedisReply], after prefix: String) -> [String: Int] {
        var numbers: [String: Int] = [:]
        for (name, value) in fields where name.hasPrefix(prefix) {
            numbers[String(name.dropFirst(prefix.count))] = value.integer.map(Int.init)
        }
        return numbers
    }
}
