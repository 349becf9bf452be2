internal import Broker
internal import Desk
internal import Loop
internal import Push
internal import Synchronization

/// What lies in the dead-letter queue, as it was a moment ago; the same for all viewers.
///
/// AMQP can only take messages, so that a look holds all of them for a second or two: it is taken when somebody asks
/// and the queue's count says that there is something new, and not while a job of this dashboard is at it.
actor DeadIndex {
    /// One look.
    struct Contents: Sendable {
        /// Without bodies and headers, the last to die first.
        var letters: [DeadLetter] = []
        /// The newest whole, as many as fit ``budget``.
        var whole: [DeadLetterID: DeadLetter] = [:]
        /// In the queue when the look began.
        var ready = 0

        var oldest: UnixTime? { self.letters.lazy.compactMap(\.diedAt).min() }
    }

    nonisolated let desk: DeadLetterDesk
    private let source: FleetSource
    private let jobs: JobBoard
    private var latest: (contents: Contents, ended: MonotonicTime)?
    private var looking: (task: Task<Result<Contents, Problem>, Never>, begun: MonotonicTime)?
    private var validFrom = MonotonicTime(nanoseconds: 0)

    /// Looks are at least so far apart, unless somebody has acted.
    private static let interval: Duration = .seconds(5)
    /// Letters may change places with their number unchanged.
    private static let oldest: Duration = .seconds(60)
    static let budget = 64 << 20
    /// What a letter takes beside its body, about.
    private static let overhead = 2048

    init(_ broker: BrokerSettings, _ source: FleetSource, jobs: JobBoard) {
        self.desk = DeadLetterDesk(broker, timeout: .seconds(10))
        self.source = source
        self.jobs = jobs
    }

    /// The letters, for somebody who looks.
    func contents() async throws(Problem) -> Contents {
        let picture = await self.source.picture()
        let now = MonotonicClock.now()
        guard let latest = self.latest, latest.ended >= self.validFrom else { return try await self.look() }
        guard await !self.jobs.isBusy else { return latest.contents }
        let age = now - latest.ended
        let hasNews = picture.begun > latest.ended && picture.deadLetters != latest.contents.ready
        if self.looking == nil, (hasNews && age > Self.interval) || age > Self.oldest {
            // Whoever asks now gets what is known; whoever asks again gets what this finds.
            Task { _ = try? await self.look() }
        }
        return latest.contents
    }

    /// Looks before anybody asks, so that nobody waits; not if there are so many that others would miss them for long.
    func warm() async {
        guard let count = await self.source.picture().deadLetters, count > 0, count <= Self.fewToHold else { return }
        _ = try? await self.contents()
    }

    /// They are held for a second or two.
    private static let fewToHold = 20_000

    /// Somebody has acted: what was read before does not count any more.
    func forget() { self.validFrom = MonotonicClock.now() }

    /// These have left the queue; everything else is as it was.
    func remove(_ ids: Set<DeadLetterID>) async {
        guard var contents = self.latest?.contents else { return }
        let before = contents.letters.count
        contents.letters.removeAll { ids.contains($0.id) }
        for id in ids { contents.whole[id] = nil }
        contents.ready -= before - contents.letters.count
        self.latest = (contents, MonotonicClock.now())
        await self.source.found(oldestDead: contents.oldest)
    }

    /// One letter, whole; nil if it is not in the queue.
    func letter(_ id: DeadLetterID) async throws(Problem) -> DeadLetter? {
        let contents = try await self.contents()
        if let letter = contents.whole[id] { return letter }
        guard contents.letters.contains(where: { $0.id == id }) else { return nil }
        do throws(DeadLetterFailure) {
            return try await self.desk.letter(id)
        } catch {
            throw .dead(error)
        }
    }

    private func look() async throws(Problem) -> Contents {
        if let looking = self.looking, looking.begun >= self.validFrom { return try await looking.task.value.get() }
        let now = MonotonicClock.now()
        let before = self.looking?.task
        let known = self.latest?.contents.ready
        let (desk, source) = (self.desk, self.source)
        let task = Task { () -> Result<Contents, Problem> in
            _ = await before?.value
            let count: Int? = if let known { known } else { await source.picture().deadLetters }
            await source.deadLettersAreHeld(count)
            let result = await Self.look(desk)
            await source.deadLettersAreHeld(nil)
            return result
        }
        self.looking = (task, now)
        let result = await task.value
        if self.looking?.begun == now { self.looking = nil }
        if case .success(let contents) = result {
            self.latest = (contents, MonotonicClock.now())
            await source.found(oldestDead: contents.oldest)
        }
        return try result.get()
    }

    private static func look(_ desk: DeadLetterDesk) async -> Result<Contents, Problem> {
        let gathering = Mutex(Gathering())
        do throws(DeadLetterFailure) {
            let look = try await desk.read { letter in gathering.withLock { $0.add(letter) } }
            return .success(gathering.withLock { $0.contents(ready: look.ready) })
        } catch {
            return .failure(.dead(error))
        }
    }

    /// Letters in the queue's order, which is nearly that of their deaths.
    private struct Gathering {
        private var letters: [DeadLetter] = []
        /// From `first` on whole, before it summaries.
        private var whole: [DeadLetter] = []
        private var first = 0
        private var size = 0

        mutating func add(_ letter: DeadLetter) {
            self.letters.append(letter.summary())
            self.whole.append(letter)
            self.size += letter.bodyBytes + DeadIndex.overhead
            while self.size > DeadIndex.budget, self.first < self.whole.count {
                self.size -= self.whole[self.first].bodyBytes + DeadIndex.overhead
                self.whole[self.first] = self.letters[self.first]
                self.first += 1
            }
        }

        func contents(ready: Int) -> Contents {
            Contents(
                letters: self.letters.sorted(by: DeadLetterLook.isLater),
                whole: Dictionary(
                    self.whole[self.first...].map { ($0.id, $0) },
                    uniquingKeysWith: { first, _ in first }
                ),
                ready: ready
            )
        }
    }
}

extension Problem {
    static func dead(_ failure: DeadLetterFailure) -> Problem {
        .unavailable("the dead letters cannot be read: \(failure)", "Look at RabbitMQ, then try again.")
    }
}
