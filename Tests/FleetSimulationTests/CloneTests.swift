import Push
import TestRandom
import Testing

@testable import Store

/// A process or machine that is copied while it runs, together with the id and the number of its lease.
@Suite struct CloneTests {
    /// Workers that open what they may, one of which is cloned; milliseconds.
    private final class Life {
        private struct Worker {
            var id: InstanceID
            var lease: Lease
            var want: Int
            var open = 0
            var closing = 0
            var nextDial = 0
            var generation = 0
        }

        private enum Event {
            case wake(Int, generation: Int)
            case arrives(Int, InstanceID, RenewRequest)
            case answered(Int, InstanceID, Int64, LeaseAnswer?)
            case closed(Int, InstanceID)
        }

        let budget: Int
        let settings = LeaseSettings.standard
        private let hasRule: Bool
        private let delay: Int
        private(set) var redis = BudgetModel()
        private var random: SeededRandom
        private var workers: [Worker] = []
        private var events = EventHeap<Event>()
        private(set) var now = 0
        /// When a worker noticed that it has a twin.
        private(set) var noticed: [Int] = []
        /// The most connections open at once since `peak` was last set.
        var peak = 0

        init(seed: UInt64, hasRule: Bool) {
            self.random = SeededRandom(spreading: seed)
            self.hasRule = hasRule
            self.budget = Int.random(in: 2...8, using: &self.random)
            self.delay = Int.random(in: 1...500, using: &self.random)
            self.redis.initialize(runID: "run", now: self.time)
            for _ in 0..<Int.random(in: 1...3, using: &self.random) { self.join() }
        }

        private var time: Int { self.now + 1_700_000_000_000 }
        private var local: MonotonicTime { MonotonicTime(nanoseconds: Int64(self.now) * 1_000_000) }
        var open: Int { self.workers.reduce(0) { $0 + $1.open } }
        /// The longest time from one renewal of a worker to the answer of its next.
        var bound: Int { Int(self.settings.heartbeat.milliseconds) * 11 / 10 + 2 * self.delay + 2 }

        private func join() {
            let id = InstanceID(using: &self.random)
            let lease = Lease(settings: self.settings, id: id, now: self.local)
            let want = Int.random(in: 1...self.budget, using: &self.random)
            self.workers.append(Worker(id: id, lease: lease, want: want))
            self.wake(self.workers.count - 1, in: Int.random(in: 0...3_000, using: &self.random))
        }

        /// The answer to a renewal that is under way reaches one of the two.
        func clone() {
            let index = Int.random(in: self.workers.indices, using: &self.random)
            var twin = self.workers[index]
            twin.want = Int.random(in: 1...self.budget, using: &self.random)
            // What is being closed at this moment ends with the original.
            twin.open -= twin.closing
            twin.closing = 0
            self.workers.append(twin)
            self.wake(self.workers.count - 1, in: Int.random(in: 0...200, using: &self.random))
        }

        private func wake(_ index: Int, in wait: Int) {
            self.workers[index].generation += 1
            self.events.insert(.wake(index, generation: self.workers[index].generation), at: self.now + max(1, wait))
        }

        func run(for duration: Int) {
            let end = self.now + duration
            while let time = self.events.nextTime, time <= end, let event = self.events.pop() {
                self.now = max(self.now, time)
                self.handle(event)
                self.peak = max(self.peak, self.open)
            }
            self.now = end
        }

        private func handle(_ event: Event) {
            switch event {
            case .wake(let index, let generation):
                if self.workers[index].generation == generation { self.step(index) }
            case .arrives(let index, let id, let request):
                let answer = self.redis.renew(
                    request,
                    as: id.description,
                    runID: "run",
                    budget: self.budget,
                    settings: self.settings,
                    now: self.time
                )
                let wait = Int.random(in: 0...self.delay, using: &self.random)
                self.events.insert(.answered(index, id, request.seq, answer), at: self.now + wait)
            case .answered(let index, let id, let seq, let answer):
                guard self.workers[index].id == id else { return }
                if let answer {
                    self.workers[index].lease.answered(seq, answer, now: self.local)
                } else if !self.hasRule {
                    self.workers[index].lease.failed(seq, mayHaveRun: true)
                } else if self.workers[index].lease.ignored(seq) {
                    self.beginAnew(index)
                }
                self.step(index)
            case .closed(let index, let id):
                guard self.workers[index].id == id, self.workers[index].closing > 0 else { return }
                self.workers[index].closing -= 1
                self.workers[index].open -= 1
                self.step(index)
            }
        }

        private func beginAnew(_ index: Int) {
            self.noticed.append(self.now)
            let id = InstanceID(using: &self.random)
            self.workers[index].id = id
            self.workers[index].lease = Lease(settings: self.settings, id: id, now: self.local)
            self.workers[index].open = 0
            self.workers[index].closing = 0
        }

        private func step(_ index: Int) {
            var worker = self.workers[index]
            let now = self.local
            if !worker.lease.isValid(now: now) { (worker.open, worker.closing) = (0, 0) }
            while worker.closing < min(worker.open, worker.lease.excess(open: worker.open, now: now)) {
                worker.closing += 1
                let wait = Int.random(in: 20...1_000, using: &self.random)
                self.events.insert(.closed(index, worker.id), at: self.now + wait)
            }
            let mayOpen = worker.lease.mayOpen(open: worker.open, now: now)
            if mayOpen, worker.open < worker.want, worker.closing == 0, worker.nextDial <= self.now {
                worker.open += 1
                worker.nextDial = self.now + 100
            }
            let request = worker.lease.renewDue(open: worker.open, want: worker.want, now: now)
            self.workers[index] = worker
            if let request {
                let wait = Int.random(in: 0...self.delay, using: &self.random)
                self.events.insert(.arrives(index, worker.id, request), at: self.now + wait)
            }
            let wake = worker.lease.wakeTime(open: worker.open, want: worker.want, now: now)
            let wait = Int((wake - now).nanoseconds / 1_000_000) + 1
            self.wake(index, in: mayOpen && worker.open < worker.want ? min(wait, 100) : wait)
        }
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `One of two clones notices within a heartbeat, and the budget holds from then on`(seed: UInt64) {
        let life = Life(seed: seed, hasRule: true)
        life.run(for: 20_000 + Int(seed * 37 % 3_300))
        #expect(life.peak > 0 && life.peak <= life.budget)
        #expect(life.noticed.isEmpty)
        let time = life.now
        life.clone()
        life.run(for: life.bound)
        #expect(life.noticed.count == 1, "in \(life.bound) ms")
        #expect(life.noticed.allSatisfy { $0 > time })
        #expect(life.open <= life.budget)
        life.peak = 0
        life.run(for: 60_000)
        #expect(life.peak > 0 && life.peak <= life.budget)
        #expect(life.noticed.count == 1, "one goes, the other stays")
        #expect(life.redis.granted <= life.budget, "nothing is counted twice")
    }

    @Test func `Without the rule two clones use one grant`() {
        let count = (UInt64(0)..<40).count { seed in
            let life = Life(seed: seed, hasRule: false)
            life.run(for: 20_000)
            life.clone()
            life.run(for: life.bound)
            life.peak = 0
            life.run(for: 60_000)
            return life.peak > life.budget
        }
        #expect(count > 0)
        print("CLONES without the rule: \(count) of 40 lives are beyond the budget a heartbeat later")
    }
}
