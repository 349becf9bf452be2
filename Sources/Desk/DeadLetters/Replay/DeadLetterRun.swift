internal import Broker
internal import Loop
internal import Push

/// One walk that replays or removes the letters of a set, and leaves all others as they are.
///
/// A letter is published, RabbitMQ confirms, and only then is it taken off the dead-letter queue.
final class DeadLetterRun {
    enum Deed: Sendable {
        case replay(ReplayRules, rate: Int)
        case purge
    }

    private let deed: Deed
    private let ids: Set<DeadLetterID>
    private let mark: String
    private let stop: StopSwitch
    private let loop: EventLoop
    private let progress: @Sendable (DeadLetterReport) -> Void
    private let end: MonotonicTime
    private var pace: ReplayPace
    private var waiting: [(letter: DeadLetter, place: DeadLetterWalk.Place)] = []
    private var head = 0
    private var published = 0
    private weak var walk: DeadLetterWalk?
    private var tick: Deadline?
    private var nextWord: MonotonicTime
    private var leftOff: MonotonicTime?
    /// Longer than a confirm may take.
    private static let patience = Duration.seconds(15)
    private(set) var report: DeadLetterReport
    /// Letters that were met and decided.
    private(set) var met: Set<DeadLetterID> = []
    /// Whether it ended because its time was over.
    private(set) var isRoundOver = false

    /// - Parameters:
    ///   - report: how far the job was before.
    ///   - time: after which it ends in good order. RabbitMQ closes the channel of whoever holds a message for half an
    ///     hour (https://www.rabbitmq.com/docs/consumers#acknowledgement-timeout).
    init(
        _ deed: Deed,
        ids: Set<DeadLetterID>,
        mark: String,
        report: DeadLetterReport,
        time: Duration,
        stop: StopSwitch,
        on loop: EventLoop,
        progress: @escaping @Sendable (DeadLetterReport) -> Void
    ) {
        self.deed = deed
        self.ids = ids
        self.mark = mark
        self.report = report
        self.stop = stop
        self.loop = loop
        self.progress = progress
        self.end = loop.now + time
        self.nextWord = loop.now
        if case .replay(_, let rate) = deed {
            self.pace = ReplayPace(rate: rate)
        } else {
            self.pace = ReplayPace(rate: 1)
        }
    }

    func visit(_ walk: DeadLetterWalk, _ delivery: Delivery, _ place: DeadLetterWalk.Place) {
        if self.walk == nil { self.begin(walk) }
        let letter = DeadLetter(delivery)
        guard self.ids.contains(letter.id), !self.stop.isStopped else { return walk.hold(place) }
        switch self.deed {
        case .purge:
            self.done(letter)
            walk.remove(place)
        case .replay(let rules, _):
            if let problem = rules.problem(of: letter, now: WallClock.now()) {
                if self.met.insert(letter.id).inserted { self.report.refuse(letter.id, problem) }
                return walk.hold(place)
            }
            self.waiting.append((letter, place))
            self.publishSome()
        }
    }

    private func begin(_ walk: DeadLetterWalk) {
        self.walk = walk
        self.pace.refill(at: self.loop.now)
        walk.canPublish = { [unowned self] in self.publishSome() }
        self.beat()
    }

    private func done(_ letter: DeadLetter) {
        // The same letter twice is one of those that were chosen.
        if self.met.insert(letter.id).inserted { self.report.done += 1 }
    }

    // MARK: Time

    private func beat() {
        self.tick = self.loop.after(.milliseconds(10)) { [weak self] in
            guard let self, let walk = self.walk else { return }
            let now = self.loop.now
            self.isRoundOver = self.isRoundOver || now > self.end
            if self.stop.isStopped || self.isRoundOver { self.leaveOff(walk) }
            self.pace.refill(at: now)
            self.publishSome()
            self.report.blocked = walk.blockedReason
            if now > self.nextWord {
                self.progress(self.report)
                self.nextWord = now + .milliseconds(200)
            }
            self.beat()
        }
    }

    /// What is not published yet stays where it is.
    private func leaveOff(_ walk: DeadLetterWalk) {
        let rest = self.waiting[self.head...]
        self.waiting = []
        self.head = 0
        walk.stop()
        for item in rest { walk.hold(item.place) }
        // RabbitMQ answers nothing as long as it takes nothing.
        let leftOff = self.leftOff ?? self.loop.now
        self.leftOff = leftOff
        if self.loop.now - leftOff > Self.patience { walk.giveUp() }
    }

    func finish() {
        self.tick?.cancel()
        self.walk = nil
        self.progress(self.report)
    }

    // MARK: Publishing

    private func publishSome() {
        guard let walk = self.walk else { return }
        while self.head < self.waiting.count {
            guard self.pace.take() else { return }
            let item = self.waiting[self.head]
            let message = ReplayMessage.make(item.letter, mark: "\(self.mark).\(self.published)", now: WallClock.now())
            let isTaken = walk.publish(message) { [weak self] in self?.answered($0, item.letter, item.place) }
            guard isTaken else { return }
            self.published += 1
            self.head += 1
        }
        self.waiting.removeAll(keepingCapacity: true)
        self.head = 0
    }

    private func answered(_ outcome: PublishOutcome, _ letter: DeadLetter, _ place: DeadLetterWalk.Place) {
        guard let walk = self.walk else { return }
        if outcome == .confirmed {
            self.done(letter)
            return walk.remove(place)
        }
        if self.met.insert(letter.id).inserted { self.report.failed += 1 }
        if self.report.trouble == nil { self.report.trouble = outcome.trouble(with: letter.routingKey) }
        walk.hold(place)
    }
}

extension PublishOutcome {
    /// What went wrong, and what to do; nil if nothing.
    func trouble(with routingKey: String) -> String? {
        switch self {
        case .confirmed: nil
        case .returned: "no queue takes \(Quoted.text(routingKey.utf8, limit: 160)); run pushfleet topology declare"
        case .nacked: "RabbitMQ refused it; is a queue full?"
        case .unknown(.timeout): "RabbitMQ did not confirm in time; run it again, what arrived is not sent twice"
        case .unknown(.lost(let error)): "\(error); run it again, what arrived is not sent twice"
        case .notSent: "not sent"
        }
    }
}
