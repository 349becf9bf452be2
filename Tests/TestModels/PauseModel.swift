import Push
package import Store

/// The script of the fleet's pauses, in Swift, for fleets in virtual time. That both do the same is tested by histories
/// that go through both.
package struct PauseModel: Sendable {
    /// The server's clock, milliseconds.
    package var now: Int64

    private struct Entry {
        var pause: AppPause
        /// Nil for never.
        var expires: Int64?
    }

    private var entries: [String: Entry] = [:]
    /// First answers by app.
    private var early: [String: Early] = [:]

    private struct Early {
        var suspects = 0
        var answers = 0
        let expires: Int64
    }

    package init(now: Int64) {
        self.now = now
    }

    /// Redis has lost its data.
    package mutating func flush() { (self.entries, self.early) = ([:], [:]) }

    /// All pauses, as `read` answers them, by field.
    package mutating func read() -> [String: AppPause] {
        self.prune()
        return self.entries.mapValues { self.seen($0).pause }
    }

    private mutating func prune() {
        for (app, count) in self.early where count.expires <= self.now { self.early[app] = nil }
        for (field, entry) in self.entries {
            if let expires = entry.expires, expires <= self.now { self.entries[field] = nil }
        }
    }

    /// The entry as it counts now: the clock may have gone back since it was written.
    private func seen(_ entry: Entry) -> Entry {
        var seen = entry
        seen.pause.time = UnixTime(milliseconds: self.now)
        if entry.pause.kind == .fault {
            seen.pause.until = entry.pause.until.map { min($0, UnixTime(milliseconds: self.now + 300_000)) }
            seen.pause.probeEnds = min(entry.pause.probeEnds, UnixTime(milliseconds: self.now + 6000))
        }
        return seen
    }

    /// One order.
    /// - Returns: the pause concerned as it is afterwards.
    package mutating func carryOut(
        _ order: PausedApps.Order,
        app: String,
        by worker: String,
        name: String
    ) -> AppPause? {
        self.prune()
        let kind: AppPause.Kind
        switch order {
        case .hold, .release: kind = .hand
        default: kind = .fault
        }
        let field = "\(kind.rawValue):\(app)"
        var entry = self.entries[field].map(self.seen)
        var changed = false
        func begin(_ cause: String, _ since: UnixTime?, ends: Int64, reason: String) -> Entry? {
            changed = true
            let from = since?.milliseconds ?? max(self.now, (entry?.pause.since.milliseconds ?? -1) + 1)
            let value = "1 \(cause) \(from) \(ends) 0 - 0 0 \(name)\t\(reason)"
            return AppPause(field: field, value: value, time: UnixTime(milliseconds: self.now))
                .map { Entry(pause: $0, expires: nil) }
        }
        func pause(_ cause: String, _ since: UnixTime?, _ wait: Duration, _ pauses: Int) {
            let ends = self.now + wait.milliseconds
            entry = begin(cause, since, ends: ends, reason: "")
            entry?.pause.pauses = pauses
            entry?.expires = ends + 900_000
            self.early[app] = nil
        }
        func isMine(_ since: UnixTime) -> Bool { entry?.pause.isPaused == true && entry?.pause.since == since }
        func resume() {
            changed = true
            entry?.pause.isPaused = false
            entry?.pause.prober = nil
            entry?.pause.probeEnds = UnixTime(milliseconds: 0)
            entry?.expires = self.now + 600_000
        }
        switch order {
        case .pause(let cause, let wait, let pauses, let since):
            if entry?.pause.isPaused == true { break }
            if let since, let entry, since <= entry.pause.since { break }
            pause(cause, since, wait, pauses)
        case .answers(let suspects, let answers, let threshold, let least, let wait):
            if entry?.pause.isPaused == true { break }
            var count = self.early[app] ?? Early(expires: self.now + 60_000)
            count.suspects += suspects
            count.answers += answers
            self.early[app] = count
            guard threshold > 0, count.suspects >= least, count.suspects * 100 >= threshold * count.answers else {
                break
            }
            pause("suspects", nil, wait, 1)
        case .probe(let since):
            guard isMine(since), let pause = entry?.pause, let until = pause.until, until.milliseconds <= self.now
            else {
                break
            }
            guard pause.prober == nil || pause.prober == worker || pause.probeEnds.milliseconds <= self.now else {
                break
            }
            changed = true
            entry?.pause.prober = worker
            entry?.pause.probeEnds = UnixTime(milliseconds: self.now + 6000)
            entry?.expires = self.now + 906_000
        case .yield(let since):
            guard isMine(since), entry?.pause.prober == worker else { break }
            changed = true
            entry?.pause.prober = nil
            entry?.pause.probeEnds = UnixTime(milliseconds: 0)
        case .fail(let since, let cause, let first, let longest):
            guard isMine(since), entry?.pause.prober == worker, var pause = entry?.pause else { break }
            changed = true
            if pause.cause != cause { (pause.cause, pause.pauses) = (cause, 0) }
            let wait = min(longest.milliseconds, first.milliseconds << min(pause.pauses, 10))
            pause.until = UnixTime(milliseconds: self.now + wait)
            pause.pauses += 1
            pause.prober = nil
            pause.probeEnds = UnixTime(milliseconds: 0)
            entry = Entry(pause: pause, expires: self.now + wait + 900_000)
        case .resume(let since):
            guard isMine(since) else { break }
            resume()
            self.early[app] = nil
        case .due(let since):
            guard let pause = entry?.pause, pause.isPaused, since == nil || since == pause.since else { break }
            changed = true
            entry?.pause.until = min(pause.until ?? pause.time, UnixTime(milliseconds: self.now))
            entry?.pause.pauses = 0
        case .hold(let time, let reason, let since):
            if let since, let entry, since <= entry.pause.since { break }
            let ends = time.map { self.now + $0.milliseconds }
            entry = begin("hand", since, ends: ends ?? 0, reason: reason)
            entry?.expires = ends.map { $0 + 600_000 }
        case .release: if entry?.pause.isPaused == true { resume() }
        }
        if changed { self.entries[field] = entry }
        return entry?.pause
    }
}
