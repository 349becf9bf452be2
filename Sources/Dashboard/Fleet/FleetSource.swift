internal import Broker
internal import Desk
internal import Logging
internal import Loop
internal import Push
internal import Store

/// Asks Redis and RabbitMQ for what viewers see: only while somebody looks, once a second at most, and so seldom that a
/// quarter of the time is spent with it at most: a question to each of a thousand queues is work for RabbitMQ.
actor FleetSource {
    private let parts: DashboardParts
    private let logger: Logger
    private let link: ServerLinks
    private var latest: (picture: FleetPicture, begun: MonotonicTime)?
    private var reading: (task: Task<FleetPicture, Never>, begun: MonotonicTime)?
    private var lastAsked: MonotonicTime?
    private var stored: StoredApps?
    private var configured: ConfiguredFleet
    /// What was read before may lack what somebody has done since.
    private var validFrom = MonotonicTime(nanoseconds: 0)

    /// The fleet's last whole minutes, and whether nothing more will come into them.
    private var series: (minutes: FleetSeries, recent: Overview.Recent, isSettled: Bool)?
    /// What each app counted in these, as far as it has been read.
    private var minutes = AppMinutes()
    private var lanes: [FleetStatus.Lane] = []
    /// When the oldest dead letter died that a look of ours has found.
    private var oldestDead: UnixTime?
    /// When each queue was last seen empty.
    private var emptyAt: [String: UnixTime] = [:]

    /// How many dead letters there are while a look of ours holds them, so that RabbitMQ counts none.
    private var heldDeadLetters: Int?

    /// How old a picture may be before it is read anew.
    private var freshness: Duration = .seconds(1)
    private static let freshest: Duration = .seconds(1)
    private static let stalest: Duration = .seconds(5)
    /// How much older it may be while the next one is being read.
    private static let patience: Duration = .seconds(2)
    /// After this long without a viewer nothing is read.
    private static let interest: Duration = .seconds(15)

    init(_ parts: DashboardParts, links: ServerLinks, logger: Logger) {
        self.parts = parts
        self.link = links
        self.logger = logger
        self.configured = parts.fleet(nil)
    }

    /// The fleet now, or as it was a moment ago.
    func picture() async -> FleetPicture {
        let now = MonotonicClock.now()
        self.lastAsked = now
        if let latest = self.latest, latest.begun >= self.validFrom {
            let age = now - latest.begun
            if age > self.freshness, self.reading == nil { Task { _ = await self.read(now) } }
            // Whoever looks gets what is known, and whoever looks again what this finds.
            if age <= self.freshness + Self.patience { return latest.picture }
        }
        return await self.read(now)
    }

    /// Somebody has changed something: what is asked from here on is read after it.
    func forget() { self.validFrom = MonotonicClock.now() }

    /// The configuration may be another.
    func reload() {
        self.configured = self.parts.fleet(self.stored)
        self.forget()
    }

    /// Keeps the picture fresh while somebody looks, until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: self.freshness)) != nil {
            let now = MonotonicClock.now()
            guard let asked = self.lastAsked, now - asked < Self.interest else { continue }
            _ = await self.read(now)
            await self.readMinutes()
        }
    }

    /// The next step of what each app counted by minute.
    private func readMinutes() async {
        let lanes = self.lanes
        for minute in self.minutes.missing(lanes: lanes.count) {
            let answer = await self.link.askRedis { redis throws(RedisFailure) in
                try await SeriesReader(redis).lanes(lanes, in: minute)
            }
            guard case .success(let found) = answer else { return }
            var apps: [String: AppMinutes.Counts] = [:]
            for (lane, fields) in zip(lanes, found) where !fields.isEmpty {
                let counted = FleetStatus.Lane(app: lane.app, lane: lane.lane, fields: fields)
                let counts = AppMinutes.Counts(
                    delivered: counted[.delivered],
                    retried: counted[.retried],
                    deadLettered: counted[.deadLettered]
                )
                apps[lane.app] = counts + (apps[lane.app] ?? AppMinutes.Counts())
            }
            self.minutes.add(minute, apps)
        }
    }

    private func read(_ now: MonotonicTime) async -> FleetPicture {
        if let reading = self.reading, reading.begun >= self.validFrom { return await reading.task.value }
        let task = Task { await self.readAnew() }
        self.reading = (task, now)
        let picture = await task.value
        self.freshness = min(max((MonotonicClock.now() - now) * 4, Self.freshest), Self.stalest)
        // Of two that overlap the one that began later knows more.
        if (self.latest.map { $0.begun < now }) ?? true { self.latest = (picture, now) }
        if self.reading?.begun == now { self.reading = nil }
        return picture
    }

    /// Whoever has looked at the dead letters says when the oldest died; nil if none did, or nobody knows.
    func found(oldestDead time: UnixTime?) { self.oldestDead = time }

    /// A look at the dead letters begins, or, with nil, is over.
    func deadLettersAreHeld(_ count: Int?) { self.heldDeadLetters = count }

    private func readAnew() async -> FleetPicture {
        let begun = MonotonicClock.now()
        let held = self.heldDeadLetters
        await self.readApps()
        let configured = self.configured
        let links = self.link
        async let status = links.askRedis { redis throws(RedisFailure) in
            try await CounterReader(redis).read(pools: configured.credentials.map(\.pool))
        }
        async let queues = links.askBroker { broker throws(BrokerError) in
            try await QueueStatus.read(apps: configured.appIDs, delays: configured.delays, from: broker)
        }
        let found = await queues
        let dead = held ?? self.heldDeadLetters
        let told = await status
        if let status = try? told.get() {
            await self.readSeries(at: status.time)
            self.minutes.turn(to: status.time)
            self.lanes = status.lanes
        }
        self.note(found, at: (try? told.get().time) ?? WallClock.now(), isHeld: dead != nil)
        return FleetPicture(
            configured: configured,
            begun: begun,
            status: told,
            queues: found.map { queues in dead.map { Self.counting($0, in: queues) } ?? queues },
            wallTime: WallClock.now(),
            series: (try? told.get()) == nil ? nil : self.series?.minutes,
            recent: self.series?.recent,
            minutes: self.minutes,
            emptyAt: self.emptyAt,
            oldestDead: self.oldestDead
        )
    }

    /// The last whole minutes, when there is a new one or more may have come into them.
    private func readSeries(at time: UnixTime) async {
        let start = time.minute - Int64(AppMinutes.length)
        if let series = self.series, series.isSettled, series.minutes.start == start { return }
        let answer = await self.link.askRedis { redis throws(RedisFailure) in
            try await SeriesReader(redis).fleet(from: start, length: AppMinutes.length)
        }
        guard case .success(let minutes) = answer else { return }
        let isSettled = (time - AppMinutes.settling).minute == time.minute
        self.series = (minutes, Overview.Recent(minutes), isSettled)
    }

    /// Remembers which queues are empty: what waits there later came later.
    /// - Parameter isHeld: whether a look of ours holds the dead letters, so that RabbitMQ counts none.
    private func note(_ queues: Result<[QueueStatus], SourceFailure>, at time: UnixTime, isHeld: Bool) {
        guard case .success(let queues) = queues else { return }
        for queue in queues where queue.depth?.messages == 0 && !(isHeld && queue.role == .dead) {
            self.emptyAt[queue.name] = time
        }
        let names = Set(queues.map(\.name))
        self.emptyAt = self.emptyAt.filter { names.contains($0.key) }
    }

    private static func counting(_ dead: Int, in queues: [QueueStatus]) -> [QueueStatus] {
        queues.map { queue in
            guard queue.role == .dead, let depth = queue.depth else { return queue }
            return QueueStatus(
                name: queue.name,
                role: .dead,
                depth: BrokerSession.QueueDepth(messages: dead, consumers: depth.consumers)
            )
        }
    }

    /// The apps in Redis, when they have changed.
    private func readApps() async {
        let version = self.stored?.version
        let isKnown = self.stored != nil
        let answer = await self.link.askRedis { redis throws(RedisFailure) -> StoredApps? in
            let now = try await redis.send(StoredApps.versionQuestion).integer
            return isKnown && now == version ? nil : try await StoredApps.read(from: redis)
        }
        guard case .success(let apps?) = answer else { return }
        self.stored = apps
        self.configured = self.parts.fleet(apps)
    }
}
