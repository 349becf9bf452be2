internal import Loop
internal import Push

/// The replays and purges of this dashboard: those that run, and those that ended within a day.
actor JobBoard {
    struct Job: Encodable, Equatable, Sendable {
        enum Kind: String, Encodable {
            case replay, purge
        }

        enum State: String, Encodable {
            case running, done, stopped, failed
        }

        let id: String
        let kind: Kind
        var state = State.running
        let user: String
        /// The selection in words.
        let what: String
        let startedAtMs: Int64
        var endedAtMs: Int64?
        let total: Int
        var done = 0
        /// Still in the dead-letter queue.
        var failed = 0
        /// Gone already, or replayed before.
        var skipped = 0
        let ratePerS: Int?
        var error: String?
    }

    /// How far a job is.
    struct Progress: Sendable, Equatable {
        var done = 0
        var failed = 0
        var skipped = 0
        /// Why something failed, for people.
        var trouble: String?
    }

    /// What a job has to do; it tells how far it is, and stops when its task is cancelled.
    typealias Work = @Sendable (_ tell: @escaping @Sendable (Progress) -> Void) async throws -> Progress

    private struct Entry {
        var job: Job
        var task: Task<Void, Never>?
    }

    private var entries: [Entry] = []
    private var last = 0
    /// Grows with every change.
    private(set) var version = 1

    private static let limit = 50
    private static let life: Duration = .seconds(24 * 3600)

    /// Whether one is running.
    var isBusy: Bool { self.entries.contains { $0.job.state == .running } }

    /// - Parameter total: how many letters it is about.
    /// - Returns: nil while another one is running: two at a time would hide letters from each other.
    func start(_ kind: Job.Kind, by user: String, _ what: String, total: Int, rate: Int?, _ work: @escaping Work)
        -> Job?
    {
        guard !self.isBusy else { return nil }
        self.last += 1
        let id = "j\(WallClock.now().milliseconds)-\(self.last)"
        let job = Job(
            id: id,
            kind: kind,
            user: user,
            what: what,
            startedAtMs: WallClock.now().milliseconds,
            total: total,
            ratePerS: rate
        )
        let task = Task {
            do {
                let progress = try await work { progress in Task { await self.tell(id, progress) } }
                self.end(id, Task.isCancelled ? .stopped : .done, progress, nil)
            } catch {
                self.end(id, Task.isCancelled ? .stopped : .failed, nil, "\(error)")
            }
        }
        self.entries.insert(Entry(job: job, task: task), at: 0)
        self.entries = Array(self.entries.prefix(Self.limit))
        self.version += 1
        return job
    }

    /// What is done stays done, and the rest stays in the queue. Nil for a job that is not known; one that has ended is
    /// as it was.
    func stop(_ id: String) async -> Job? {
        guard let index = self.entries.firstIndex(where: { $0.job.id == id }) else { return nil }
        if let task = self.entries[index].task {
            task.cancel()
            await task.value
        }
        return self.entries.first { $0.job.id == id }?.job
    }

    /// Stops all and waits until their letters are back in the queue.
    func stopAll() async {
        let tasks = self.entries.compactMap(\.task)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    func report() -> ListReport<Job> {
        let now = WallClock.now().milliseconds
        self.entries.removeAll { entry in
            entry.job.endedAtMs.map { now - $0 > Self.life.milliseconds } ?? false
        }
        return ListReport(timeMs: now, items: self.entries.map(\.job))
    }

    private func tell(_ id: String, _ progress: Progress) {
        guard let index = self.entries.firstIndex(where: { $0.job.id == id }),
            self.entries[index].job.state == .running
        else { return }
        self.set(progress, at: index)
    }

    private func end(_ id: String, _ state: Job.State, _ progress: Progress?, _ error: String?) {
        guard let index = self.entries.firstIndex(where: { $0.job.id == id }) else { return }
        if let progress { self.set(progress, at: index) }
        self.entries[index].job.state = state
        self.entries[index].job.endedAtMs = WallClock.now().milliseconds
        if let error, state == .failed { self.entries[index].job.error = error }
        self.entries[index].task = nil
        self.version += 1
    }

    private func set(_ progress: Progress, at index: Int) {
        self.entries[index].job.done = progress.done
        self.entries[index].job.failed = progress.failed
        self.entries[index].job.skipped = progress.skipped
        self.entries[index].job.error = progress.trouble
        self.version += 1
    }
}
