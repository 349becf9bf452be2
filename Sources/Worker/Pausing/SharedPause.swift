internal import Push
internal import Store

/// An app's pause, kept in step with the fleet's: a pause that one worker begins stops all, one worker at a time probes,
/// and what it finds out goes for all.
///
/// What a worker wants to tell is not a message but a standing: it is told again until Redis has answered. While Redis
/// is away the worker's own pause goes on by its own rules.
struct SharedPause: Equatable {
    /// What this worker goes by.
    private(set) var own = Pause()
    private(set) var standing = Standing.none
    /// Another credential is in use.
    private var isHurried = false

    /// What Redis and this worker know of each other. A pause is known by when it began.
    enum Standing: Equatable {
        /// Nothing is paused.
        case none
        /// Redis is to be told of a pause; one that Redis knew and lost has a beginning.
        case announcing(since: UnixTime?)
        /// Both know.
        case shared(since: UnixTime)
        /// Redis is to be told that this worker's probe failed.
        case failing(since: UnixTime)
        /// Redis is to be told that it is over.
        case resuming(since: UnixTime)
    }

    /// What an answer of Redis changes for the app.
    enum Change: Equatable {
        case none
        /// It is to stop.
        case stopped
        /// This worker's next push finds out.
        case probing
        case resumed
    }

    // MARK: What Apple says

    /// See ``Pause/begin(_:at:)``.
    mutating func begin(_ cause: Pause.Cause, at now: MonotonicTime) -> Bool {
        guard self.own.begin(cause, at: now) else { return false }
        self.isHurried = false
        switch self.standing {
        case .none, .resuming: self.standing = .announcing(since: nil)
        case .shared(let since): self.standing = .failing(since: since)
        case .announcing, .failing: break
        }
        return true
    }

    /// See ``Pause/heard(_:of:at:)``.
    mutating func heard(_ evidence: Pause.Evidence, of context: UInt64, at now: MonotonicTime) -> Pause.Change {
        let change = self.own.heard(evidence, of: context, at: now)
        switch (change, self.standing) {
        case (.paused, .shared(let since)): self.standing = .failing(since: since)
        case (.resumed, .shared(let since)), (.resumed, .failing(let since)): self.standing = .resuming(since: since)
        case (.resumed, .announcing): self.standing = .none
        default: break
        }
        return change
    }

    mutating func credentialChanged(at now: MonotonicTime) {
        self.own.credentialChanged(at: now)
        if !self.own.isFlowing { self.isHurried = true }
    }

    var isFlowing: Bool { self.own.isFlowing }
    var cause: Pause.Cause? { self.own.cause }
    var admission: Pause.Admission { self.own.admission }

    mutating func sent(_ context: UInt64, at now: MonotonicTime) { self.own.sent(context, at: now) }
    func isProbe(_ context: UInt64) -> Bool { self.own.isProbe(context) }

    // MARK: What Redis is told

    /// Whether Redis is to be told something that cannot wait.
    var hasNews: Bool {
        switch self.standing {
        case .none: false
        case .shared: self.isHurried
        case .announcing, .failing, .resuming: true
        }
    }

    /// What to tell or to ask now. A worker that waits for a push to probe with says so again and again, since its turn
    /// ends with ``PausedApps/lease``.
    /// - Parameter canProbe: whether it could send a push.
    mutating func order(canProbe: Bool, at now: MonotonicTime) -> PausedApps.Order? {
        switch self.standing {
        case .none: return nil
        case .announcing(let since):
            guard let cause = self.own.cause else { return nil }
            var wait = Duration.zero
            if case .paused(let until) = self.own.state { wait = max(.zero, until - now) }
            return .pause(cause: cause.rawValue, wait: wait, pauses: self.own.waits, since: since)
        case .failing(let since):
            guard let cause = self.own.cause else { return nil }
            return .fail(since: since, cause: cause.rawValue, first: cause.first, longest: cause.longest)
        case .resuming(let since): return .resume(since: since)
        case .shared(let since):
            if self.isHurried { return .due(since: since) }
            // One that is about to probe, or does, asks again and again.
            switch self.own.state {
            case .flowing: return nil
            case .paused(let until): return canProbe && now >= until ? .probe(since: since) : nil
            case .probing(nil) where !canProbe:
                if let cause = self.own.cause { self.own.adopt(cause, until: now, pauses: self.own.waits) }
                return .yield(since: since)
            case .probing: return .probe(since: since)
            }
        }
    }

    /// Redis did not answer an order: what the worker may decide by itself, it does.
    /// - Returns: whether it probes now.
    mutating func unanswered(canProbe: Bool, at now: MonotonicTime) -> Bool {
        canProbe && self.own.isDue(at: now)
    }

    // MARK: What Redis says

    /// Redis answered, an order or a question for all pauses; answers come in the order of the questions.
    /// - Parameters:
    ///   - pause: the app's; nil if Redis knows of none.
    ///   - order: what it answers to; nil for the question.
    ///   - asked: when it was sent.
    ///   - worker: this worker, as a prober.
    mutating func heard(
        _ pause: AppPause?,
        answering order: PausedApps.Order? = nil,
        asked: MonotonicTime,
        as worker: String,
        at now: MonotonicTime
    ) -> Change {
        if case .due? = order { self.isHurried = false }
        guard let pause else {
            // Redis has lost its data: nobody resumed.
            switch self.standing {
            case .shared(let since), .failing(let since): self.standing = .announcing(since: since)
            case .resuming: self.standing = .none
            case .none, .announcing: break
            }
            return .none
        }
        return pause.isPaused
            ? self.isPaused(pause, answering: order, asked: asked, as: worker, at: now) : self.isResumed(pause)
    }

    private mutating func isResumed(_ pause: AppPause) -> Change {
        switch self.standing {
        case .none, .announcing(nil): return .none
        case .resuming(let since):
            if pause.since >= since { self.standing = .none }
            return .none
        case .announcing(let since?), .shared(let since), .failing(let since):
            guard pause.since >= since else {
                self.standing = .announcing(since: since)
                return .none
            }
            self.standing = .none
            self.isHurried = false
            self.own.end()
            return .resumed
        }
    }

    private mutating func isPaused(
        _ pause: AppPause,
        answering order: PausedApps.Order?,
        asked: MonotonicTime,
        as worker: String,
        at now: MonotonicTime
    ) -> Change {
        let isOthers = pause.prober != nil && pause.prober != worker && pause.probeLeft > .zero
        switch self.standing {
        case .resuming(let since) where pause.since <= since:
            guard case .resume? = order else { return .none }
        case .failing(let since) where pause.since == since:
            // Until Redis has heard of it, it still takes this worker for the prober.
            guard case .fail? = order else { return .none }
        case .shared(let since) where pause.since == since:
            switch self.own.state {
            case .probing(nil) where !isOthers: return .none
            case .probing(.some): return .none
            case .paused where pause.prober == worker:
                guard case .probe? = order, now < asked + PausedApps.lease else { break }
                self.own.adopt(Self.cause(of: pause), until: now, pauses: pause.pauses)
                return self.own.isDue(at: now) ? .probing : .none
            case .probing, .paused, .flowing: break
            }
        default: break
        }
        let stoodStill = self.own.admission == .giveBack
        let cause = Self.cause(of: pause)
        let left = min(pause.left ?? .zero, cause.longest)
        self.standing = .shared(since: pause.since)
        self.own.adopt(
            cause,
            until: now + max(left, isOthers ? min(pause.probeLeft, PausedApps.lease) : .zero),
            pauses: pause.pauses
        )
        return stoodStill ? .none : .stopped
    }

    private static func cause(of pause: AppPause) -> Pause.Cause { Pause.Cause(rawValue: pause.cause) ?? .credential }
}
