package import Loop
internal import Push

/// Writes a worker's counters to Redis now and then: one script call per flush.
///
/// Each flush has a number, and Redis remembers the last one of each worker: a flush whose answer was lost is sent again
/// as it is and counts once. While Redis is away the batch goes on counting.
package final class CounterFlush {
    /// KEYS: the worker's last flush, all lanes, then one hash per lane. ARGV: the flush's number, the lives of a counter
    /// and of the number, then per lane its name, how many fields, and the fields with their counts. A field that cannot
    /// be counted up, because someone wrote something else there, is left out: it must not hold up all others.
    private static let script = Script(
        """
        local last = redis.call('GET', KEYS[1])
        if last and tonumber(last) >= tonumber(ARGV[1]) then return 0 end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
        \(ServerClock.milliseconds)
        local life = tonumber(ARGV[2])
        local at = 4
        for k = 3, #KEYS do
            redis.call('ZADD', KEYS[2], string.format('%.0f', now), ARGV[at])
            local fields = tonumber(ARGV[at + 1])
            for f = at + 2, at + fields * 2, 2 do redis.pcall('HINCRBY', KEYS[k], ARGV[f], ARGV[f + 1]) end
            redis.call('PEXPIRE', KEYS[k], life)
            at = at + 2 + fields * 2
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
    /// The flush that has no answer yet: it is sent until it has one.
    private var unanswered: ScriptCall?
    private var isSent = false
    private var timer: Deadline?
    private var whenFlushed: [(Bool) -> Void] = []

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

    private func flush() {
        guard !self.isSent else { return }
        if self.unanswered == nil {
            guard !self.batch.isEmpty else { return self.report(true) }
            self.number += 1
            self.unanswered = self.call(self.batch.take(limit: Self.slotsPerFlush))
        }
        guard let call = self.unanswered else { return }
        self.isSent = true
        self.client.run(call) { [weak self] in self?.answered($0) }
    }

    private func answered(_ result: Result<RedisReply, RedisFailure>) {
        self.isSent = false
        switch result {
        case .success:
            self.lastFailure = nil
            self.unanswered = nil
            // More lanes than one flush takes, or a stop that waits for the rest.
            if !self.batch.isEmpty, self.hasMore { self.flush() } else { self.report(true) }
        case .failure(let failure):
            self.lastFailure = failure
            self.report(false)
        }
    }

    private var hasMore: Bool { !self.whenFlushed.isEmpty || self.batch.touchedSlots >= Self.slotsPerFlush }

    private func report(_ isWritten: Bool) {
        let waiting = self.whenFlushed
        self.whenFlushed = []
        for completion in waiting { completion(isWritten) }
    }

    private func call(_ deltas: [CounterBatch.Delta]) -> ScriptCall {
        let lanes = deltas.map { Keys.countersPrefix + $0.lane }
        var call = ScriptCall(Self.script, keys: [Keys.flushed(worker: self.id), Keys.allCounters] + lanes)
        call.add(self.number)
        call.add(milliseconds: Keys.counterLife)
        call.add(milliseconds: Keys.flushedLife)
        for delta in deltas {
            call.add(delta.lane)
            call.add(delta.fields.count)
            for field in delta.fields {
                call.add(field.name)
                call.add(field.count)
            }
        }
        return call
    }
}
