import Push
import Store
import TestModels
import TestRandom

@testable import Worker

/// Workers with one app, a Redis and an Apple in virtual time: what goes wrong is told by the seed.
final class PausedFleet {
    struct Faults {
        /// Of a thousand orders so many are lost on the way there; of a thousand answers so many on the way back.
        var lost = 0
        /// Whether workers die, and new ones come.
        var kills = false
        /// Whether Redis is away or loses its data now and then.
        var redis = false
        /// Whether workers have no connection now and then.
        var connections = false
    }

    final class Worker {
        let name: String
        var pause = SharedPause()
        var hand = HandPause()
        var isAsking = false
        var isAlive = true
        var canSend = true
        /// Answers come in order, even late ones.
        var lastArrival = 0

        init(name: String) { self.name = name }

        var isStopped: Bool { !self.pause.isFlowing || self.hand.isPaused }
        var isProbing: Bool {
            if case .probing = self.pause.own.state { self.isAlive } else { false }
        }
    }

    private var random: SeededRandom
    private let faults: Faults
    /// Milliseconds.
    private(set) var now = 0
    private var queue: [(time: Int, number: Int, body: () -> Void)] = []
    private var number = 0
    private(set) var workers: [Worker] = []
    var model = PauseModel(now: 1_700_000_000_000)
    var isRedisThere = true
    var isAppleWell = true
    private(set) var probes = 0
    private(set) var mostProbers = 0
    /// Workers that probed because Redis did not answer.
    private(set) var fallbacks = 0

    init(seed: UInt64, workers count: Int, faults: Faults = Faults()) {
        self.random = SeededRandom(seed: seed)
        self.faults = faults
        for _ in 0..<count { self.addWorker() }
    }

    var living: [Worker] { self.workers.filter(\.isAlive) }
    var isOneStopped: Bool { self.living.contains(where: \.isStopped) }
    var areAllStopped: Bool { self.living.allSatisfy(\.isStopped) }
    var areAllPausedByHand: Bool { self.living.allSatisfy(\.hand.isPaused) }
    var prober: Worker? { self.living.first(where: \.isProbing) }
    private var time: MonotonicTime { MonotonicTime(nanoseconds: Int64(self.now) * 1_000_000) }

    func addWorker() {
        let worker = Worker(name: "w\(self.workers.count)")
        self.workers.append(worker)
        self.every(2000, worker) { [unowned self] in self.beat(worker) }
        self.every(1000, worker) { [unowned self] in self.tick(worker) }
        self.beat(worker)
    }

    // MARK: Time

    func after(_ delay: Int, _ body: @escaping () -> Void) {
        self.number += 1
        self.queue.append((self.now + delay, self.number, body))
    }

    private func every(_ interval: Int, _ worker: Worker, _ body: @escaping () -> Void) {
        self.after(Int.random(in: interval * 9 / 10...interval, using: &self.random)) { [unowned self] in
            guard worker.isAlive else { return }
            body()
            self.every(interval, worker, body)
        }
    }

    /// Goes on until `end` milliseconds, or until `isDone`.
    /// - Returns: whether it is done.
    @discardableResult
    func run(until end: Int, _ isDone: () -> Bool = { false }) -> Bool {
        while let next = self.queue.indices.min(by: { left, right in
            (self.queue[left].time, self.queue[left].number) < (self.queue[right].time, self.queue[right].number)
        }), self.queue[next].time <= end {
            if isDone() { return true }
            let event = self.queue.remove(at: next)
            self.model.now += Int64(event.time - self.now)
            self.now = event.time
            event.body()
            self.mostProbers = max(self.mostProbers, self.living.count(where: \.isProbing))
        }
        self.model.now += Int64(end - self.now)
        self.now = end
        return isDone()
    }

    private func happens(_ thousandths: Int) -> Bool { Int.random(in: 0..<1000, using: &self.random) < thousandths }

    // MARK: Workers

    /// Sends to Redis; `answered` gets nil if no answer comes.
    private func ask<Answer>(
        _ worker: Worker,
        _ run: @escaping () -> Answer,
        then answered: @escaping (Answer?) -> Void
    ) {
        let there = Int.random(in: 1...40, using: &self.random)
        let arrival = max(worker.lastArrival, self.now + there + Int.random(in: 1...40, using: &self.random))
        worker.lastArrival = arrival
        let (isLost, isUnheard) = (self.happens(self.faults.lost), self.happens(self.faults.lost))
        var answer: Answer?
        self.after(there) { [unowned self] in
            guard self.isRedisThere, !isLost else { return }
            let found = run()
            if !isUnheard { answer = found }
        }
        self.after(arrival - self.now) {
            if worker.isAlive { answered(answer) }
        }
    }

    private func beat(_ worker: Worker) {
        let asked = self.time
        self.ask(
            worker,
            { [unowned self] in self.model.read() },
            then: { [unowned self] pauses in
                guard let pauses else { return }
                _ = worker.hand.heard(pauses["hand:shop"], at: self.time)
                self.heard(
                    worker.pause.heard(pauses["fault:shop"], asked: asked, as: worker.name, at: self.time),
                    worker
                )
            }
        )
    }

    private func tick(_ worker: Worker) {
        if self.faults.connections, self.happens(20) { worker.canSend.toggle() }
        _ = worker.hand.isOver(at: self.time)
        self.tell(worker)
        if self.faults.kills, self.happens(worker.isProbing ? 100 : 2) {
            worker.isAlive = false
            self.after(3000) { [unowned self] in self.addWorker() }
        }
        // A worker that flows hears from Apple; one that probes sends a push.
        if !self.isAppleWell, !worker.isStopped, worker.canSend, worker.pause.begin(.suspects, at: self.time) {
            self.tell(worker)
        }
        self.probe(worker)
    }

    private func tell(_ worker: Worker) {
        guard !worker.isAsking else { return }
        let asked = self.time
        if let (order, name) = worker.hand.order(at: asked) {
            worker.isAsking = true
            return self.ask(
                worker,
                { [unowned self] in self.model.carryOut(order, app: "shop", by: worker.name, name: name) },
                then: { [unowned self] answer in
                    worker.isAsking = false
                    if let answer { _ = worker.hand.heard(answer, at: self.time) }
                }
            )
        }
        guard let order = worker.pause.order(canProbe: worker.canSend && !worker.hand.isPaused, at: asked) else {
            return
        }
        worker.isAsking = true
        self.ask(
            worker,
            { [unowned self] in self.model.carryOut(order, app: "shop", by: worker.name, name: worker.name) },
            then: { [unowned self] answer in
                worker.isAsking = false
                guard let answer else {
                    if worker.pause.unanswered(canProbe: worker.canSend && !worker.hand.isPaused, at: self.time) {
                        self.fallbacks += 1
                        self.probe(worker)
                    }
                    return
                }
                let change = worker.pause.heard(
                    answer,
                    answering: order,
                    asked: asked,
                    as: worker.name,
                    at: self.time
                )
                self.heard(change, worker)
            }
        )
    }

    private func heard(_ change: SharedPause.Change, _ worker: Worker) {
        if change == .probing { self.probe(worker) }
        if worker.pause.hasNews { self.tell(worker) }
    }

    private func probe(_ worker: Worker) {
        guard case .probing(nil) = worker.pause.own.state, worker.canSend, !worker.hand.isPaused else { return }
        self.probes += 1
        let context = UInt64(self.probes)
        worker.pause.sent(context, at: self.time)
        self.after(Int.random(in: 50...9000, using: &self.random)) { [unowned self] in
            guard worker.isAlive else { return }
            _ = worker.pause.heard(self.isAppleWell ? .accepted : .suspect, of: context, at: self.time)
            self.tell(worker)
        }
    }

    /// Goes on for a while, with Apple and Redis well and unwell in turns.
    func wander(_ length: Int) {
        let end = self.now + length
        while self.now < end {
            switch Int.random(in: 0..<6, using: &self.random) {
            case 0, 1: self.isAppleWell.toggle()
            case 2 where self.faults.redis: self.isRedisThere.toggle()
            case 3 where self.faults.redis: self.model.flush()
            case 4 where self.happens(300): self.byHand(.hold(for: .seconds(30), reason: "", since: nil))
            case 5 where self.happens(300): self.byHand(.release)
            default: break
            }
            self.run(until: self.now + Int.random(in: 100...60_000, using: &self.random))
        }
    }

    func byHand(_ order: PausedApps.Order) {
        _ = self.model.carryOut(order, app: "shop", by: "desk", name: "me@here")
    }
}
