package import Loop
internal import Push

/// Writes a worker's counters to Redis now and then: one script call per flush.
///
/// Each flush has a number, and Redis remembers the last one of each worker: a flush whose answer was lost is sent again
/// as it is and counts once. While Redis is away the batch goes on counting, cut at each minute for a while.
///
/// Counts belong to the minute in which the flush before them was: up to one interval of a new minute is counted in the
/// old one.
package final class CounterFlush {
    /// KEYS: the worker's last flush, all lanes, the schema's version, then one hash per ``CounterPart``. ARGV: the
    /// flush's number, the lives of a counter and of the number, the version, then the parts. A field that cannot be
    /// counted up, because someone wrote something else there, is left out: it must not hold up all others. Reasons
    /// beyond the limit of a hash are counted together.
    private static let script = Script(
        """
        local last = redis.call('GET', KEYS[1])
        if last and tonumber(last) >= tonumber(ARGV[1]) then return 0 end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
        \(ServerClock.milliseconds)
        local life = tonumber(ARGV[2])
        redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[2])
        local at = 5
        for k = 4, #KEYS do
            local key, limit, newest = KEYS[k], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
            if ARGV[at] ~= '' then redis.call('ZADD', KEYS[2], string.format('%.0f', now), ARGV[at]) end
            if newest > 0 then
                local old = redis.pcall('HGET', key, '\(CounterPart.receivedUntil)')
                if type(old) ~= 'table' and (tonumber(old or '0') or 0) < newest then
                    redis.pcall('HSET', key, '\(CounterPart.receivedUntil)', ARGV[at + 3])
                end
            end
            local bounded, ends = at + 6 + 2 * tonumber(ARGV[at + 4]), at + 6 + 2 * tonumber(ARGV[at + 5])
            for f = at + 6, ends - 1, 2 do
                local name = ARGV[f]
                if f >= bounded then
                    local size = redis.pcall('HLEN', key)
                    if type(size) == 'number' and size >= limit and not redis.call('HGET', key, name) then
                        name = string.match(name, '^[^.]*') .. '.other'
                    end
                end
                redis.pcall('HINCRBY', key, name, ARGV[f + 1])
            end
            redis.call('PEXPIRE', key, ARGV[at + 1])
            at = ends
        end
        redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - life))
        redis.call('PEXPIRE', KEYS[2], life)
        return 1
        """
    )

    /// A script blocks Redis while it runs: at most so many apps and lanes in one.
    static let slotsPerFlush = 64

    /// What has been counted and not yet taken for a flush.
    package var batch = CounterBatch()
    private var id: InstanceID
    private let client: RedisClient
    private let loop: EventLoop
    private let interval: Duration
    private var number: Int64 = 0
    /// The oldest is sent until it has an answer, then the next.
    private var unanswered: [ScriptCall] = []
    /// What the batch has was counted in this minute.
    private var minute: Int64
    private var isSent = false
    private var timer: Deadline?
    private var whenFlushed: [(Bool) -> Void] = []
    /// By lane, all apps together: every counter and measure that was taken for a flush.
    private var sums: [String: [String: Int64]] = [:]

    /// What was counted and taken for a flush since this worker started, by lane, for its own metrics. No reasons.
    package var taken: [FleetStatus.Lane] {
        self.sums.sorted { $0.key < $1.key }.map { FleetStatus.Lane(app: "", lane: $0.key, fields: $0.value) }
    }

    /// Why the last flush failed; nil after one that did not.
    package private(set) var lastFailure: RedisFailure?

    /// - Parameter interval: from one flush to the next; default 500 ms.
    package init(
        id: InstanceID,
        client: RedisClient,
        interval: Duration = .milliseconds(500),
        on loop: EventLoop
    ) {
        self.id = id
        self.client = client
        self.interval = interval
        self.loop = loop
        self.minute = loop.wallTime.minute
    }

    /// Goes on under another id: another worker uses this one's, and Redis would take its flushes for ours.
    package func rename() { self.id = InstanceID() }

    /// Begins to flush at every interval, when there is something.
    package func start() {
        guard self.timer == nil else { return }
        self.timer = self.loop.after(self.interval) { [weak self] in
            guard let self else { return }
            self.timer = nil
            self.start()
            self.flush()
        }
    }

    /// Stops; `completion` comes when what was counted so far is written (true) or one attempt has failed (false).
    package func stop(_ completion: @escaping (_ everythingIsWritten: Bool) -> Void) {
        self.timer?.cancel()
        self.timer = nil
        self.whenFlushed.append(completion)
        self.flush()
    }

    /// So many wait at most while Redis is away, some MB of a large fleet's counters; beyond that everything is counted in
    /// the minute in which Redis is back.
    static let maximumWaiting = 256

    private func flush() {
        self.flush(at: self.loop.wallTime.minute)
    }

    /// - Parameter minute: what is counted from here on belongs to it.
    func flush(at minute: Int64) {
        if minute != self.minute {
            while !self.batch.isEmpty, self.unanswered.count < Self.maximumWaiting { self.take() }
            self.minute = minute
        }
        guard !self.isSent else { return }
        if self.unanswered.isEmpty {
            guard !self.batch.isEmpty else { return self.report(true) }
            self.take()
        }
        guard let call = self.unanswered.first else { return }
        self.isSent = true
        self.client.run(call) { [weak self] in self?.answered($0) }
    }

    private func answered(_ result: Result<RedisReply, RedisFailure>) {
        self.isSent = false
        switch result {
        case .success:
            self.lastFailure = nil
            self.unanswered.removeFirst()
            // More lanes than one flush takes, or a stop that waits for the rest.
            if self.hasMore { self.flush() } else { self.report(true) }
        case .failure(let failure):
            self.lastFailure = failure
            self.report(false)
        }
    }

    private var hasMore: Bool {
        if !self.unanswered.isEmpty { return true }
        guard !self.batch.isEmpty else { return false }
        return !self.whenFlushed.isEmpty || self.batch.touchedSlots >= Self.slotsPerFlush
    }

    private func report(_ isWritten: Bool) {
        let waiting = self.whenFlushed
        self.whenFlushed = []
        for completion in waiting { completion(isWritten) }
    }

    private func take() {
        self.number += 1
        let deltas = self.batch.take(limit: Self.slotsPerFlush)
        for delta in deltas { self.sums[delta.laneName, default: [:]].merge(delta.sums, uniquingKeysWith: +) }
        self.unanswered.append(self.call(deltas))
    }

    private func call(_ deltas: [CounterBatch.Delta]) -> ScriptCall {
        let parts = CounterPart.all(of: deltas, in: self.minute)
        let keys = [Keys.flushed(worker: self.id), Keys.allCounters, Keys.counterSchema]
        var call = ScriptCall(Self.script, keys: keys + parts.map(\.key))
        call.add(self.number)
        call.add(milliseconds: Keys.counterLife)
        call.add(milliseconds: Keys.flushedLife)
        call.add(FleetStatus.currentSchema)
        for part in parts { part.add(to: &call) }
        return call
    }
}
