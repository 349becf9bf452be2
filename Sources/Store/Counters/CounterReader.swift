internal import Push

/// Reads what workers have written, for people.
package struct CounterReader: Sendable {
    private let session: RedisSession

    package init(_ session: RedisSession) {
        self.session = session
    }

    /// Reads everything. Not one moment exactly: a few round trips, while workers go on writing.
    /// - Parameter pools: budget pools to show beside those that workers have named.
    package func read(pools: [String] = []) async throws(RedisFailure) -> FleetStatus {
        let clock = try await self.session.send(RedisCommand("TIME")).elements?.compactMap(\.integer) ?? []
        let now = UnixTime(milliseconds: clock.count == 2 ? clock[0] * 1000 + clock[1] / 1000 : 0)

        var lanes: [FleetStatus.Lane] = []
        for name in try await self.members(Keys.allCounters) {
            let hash = try await self.hash(Keys.countersPrefix + name)
            guard let colon = name.firstIndex(of: ":"), !hash.isEmpty else { continue }
            let app = String(name[name.index(after: colon)...])
            lanes.append(
                FleetStatus.Lane(app: app, lane: String(name[..<colon]), fields: hash.compactMapValues(\.integer))
            )
        }
        var workers: [WorkerBeat] = []
        for id in try await self.members(Keys.allWorkers) {
            if let worker = WorkerBeat(id: id, try await self.hash(Keys.worker(id))) { workers.append(worker) }
        }
        var found: [FleetStatus.Pool] = []
        for name in try await Set(self.members(Keys.allPools)).union(pools).sorted() {
            let hash = try await self.hash(Keys.budget(pool: name))
            if let pool = FleetStatus.Pool(name: name, hash, now: now) { found.append(pool) }
        }
        let pauses = try await self.hash(Keys.pausedApps).compactMap { field, value in
            value.text.flatMap { AppPause(field: field, value: $0, time: now) }
        }
        return FleetStatus(
            time: now,
            lanes: lanes.sorted { ($0.app, $0.lane) < ($1.app, $1.lane) },
            workers: workers.sorted { ($0.startedAt, $0.id) < ($1.startedAt, $1.id) },
            pools: found,
            pauses: pauses.filter(\.isStanding).sorted { ($0.app, $0.kind.rawValue) < ($1.app, $1.kind.rawValue) }
        )
    }

    /// Counters that cannot be counted up, because somebody wrote something else there, as `key field`, or `key` when
    /// it is no hash. Workers leave them out without a word, so that one of them does not hold up all others.
    package func broken() async throws(RedisFailure) -> [String] {
        var broken: [String] = []
        for name in try await self.members(Keys.allCounters) {
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

    private func members(_ key: String) async throws(RedisFailure) -> [String] {
        try await self.session.send(RedisCommand("ZRANGE", key, "0", "-1")).elements?.compactMap(\.text) ?? []
    }

    private func hash(_ key: String) async throws(RedisFailure) -> [String: RedisReply] {
        try await self.session.send(RedisCommand("HGETALL", key)).pairs ?? [:]
    }
}
