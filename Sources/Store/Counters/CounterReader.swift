internal import Push

/// Reads what workers have written, for people.
package struct CounterReader: Sendable {
    private let session: RedisSession

    package init(_ session: RedisSession) {
        self.session = session
    }

    /// Reads everything. Not one moment exactly: three round trips, while workers go on writing.
    /// - Parameter pools: budget pools to show beside those that workers have named.
    package func read(pools: [String] = []) async throws(RedisFailure) -> FleetStatus {
        let lists = try await self.session.send([
            RedisCommand("TIME"), Self.members(Keys.allCounters), Self.members(Keys.allWorkers),
            Self.members(Keys.allPools), RedisCommand("HGETALL", Keys.pausedApps),
            RedisCommand("GET", Keys.counterSchema),
        ])
        let clock = lists[0].elements?.compactMap(\.integer) ?? []
        let now = UnixTime(milliseconds: clock.count == 2 ? clock[0] * 1000 + clock[1] / 1000 : 0)
        let names = lists[1].members
        let workers = lists[2].members
        let allPools = Set(lists[3].members).union(pools).sorted()

        let lanes = zip(names, try await self.replies(names.map { Keys.countersPrefix + $0 }))
            .compactMap { name, reply -> FleetStatus.Lane? in
                guard let colon = name.firstIndex(of: ":"), reply.elements?.isEmpty == false else { return nil }
                let app = String(name[name.index(after: colon)...])
                var fields = reply.numbers
                // No counter: a sum of times would be nonsense.
                let until = fields.removeValue(forKey: CounterPart.receivedUntil)
                var lane = FleetStatus.Lane(app: app, lane: String(name[..<colon]), fields: fields)
                lane.receivedUntil = until.map { UnixTime(milliseconds: $0) }
                return lane
            }
        let others = try await self.hashes(workers.map { Keys.worker($0) } + allPools.map { Keys.budget(pool: $0) })
        let beats = zip(workers, others).compactMap { id, hash in WorkerBeat(id: id, hash) }
        let found = zip(allPools, others.dropFirst(workers.count)).compactMap { name, hash in
            FleetStatus.Pool(name: name, hash, now: now)
        }
        let pauses = (lists[4].pairs ?? [:]).compactMap { field, value in
            value.text.flatMap { AppPause(field: field, value: $0, time: now) }
        }
        return FleetStatus(
            time: now,
            lanes: lanes.sorted { ($0.app, $0.lane) < ($1.app, $1.lane) },
            workers: beats.sorted { ($0.startedAt, $0.id) < ($1.startedAt, $1.id) },
            pools: found,
            pauses: pauses.filter(\.isStanding).sorted { ($0.app, $0.kind.rawValue) < ($1.app, $1.kind.rawValue) },
            schema: lists[5].integer.map(Int.init)
        )
    }

    /// Counters that cannot be counted up, because somebody wrote something else there, as `key field`, or `key` when
    /// it is no hash. Workers leave them out without a word, so that one of them does not hold up all others.
    package func broken() async throws(RedisFailure) -> [String] {
        var broken: [String] = []
        for name in try await self.session.send(Self.members(Keys.allCounters)).members {
            let key = Keys.countersPrefix + name
            do throws(RedisFailure) {
                let fields = try await self.hash(key).filter { $0.value.integer == nil }
                broken += fields.keys.sorted().map { "\(key) \($0)" }
            } catch {
                guard case .refused(let refusal) = error, refusal.text.hasPrefix("WRONGTYPE") else { throw error }
                broken.append(key)
            }
        }
        return broken
    }

    private static func members(_ key: String) -> RedisCommand { RedisCommand("ZRANGE", key, "0", "-1") }

    private func hash(_ key: String) async throws(RedisFailure) -> [String: RedisReply] {
        try await self.session.send(RedisCommand("HGETALL", key)).pairs ?? [:]
    }

    /// All at once: a fleet may have a thousand.
    private func hashes(_ keys: [String]) async throws(RedisFailure) -> [[String: RedisReply]] {
        try await self.replies(keys).map { $0.pairs ?? [:] }
    }

    private func replies(_ keys: [String]) async throws(RedisFailure) -> [RedisReply] {
        guard !keys.isEmpty else { return [] }
        return try await self.session.send(keys.map { RedisCommand("HGETALL", $0) })
    }
}

extension RedisReply {
    fileprivate var members: [String] { self.elements?.compactMap(\.text) ?? [] }
}
