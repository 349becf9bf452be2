import APNs
import Push
import TestRandom
import Testing

@Suite struct ConnectionPlanTests {
    private let start = MonotonicTime(nanoseconds: 0)

    private func opened(_ actions: [ConnectionPlan.Action]) -> [ConnectionPlan.ID] {
        actions.compactMap { if case .open(let id) = $0 { id } else { nil } }
    }

    private func drained(_ actions: [ConnectionPlan.Action]) -> [ConnectionPlan.ID] {
        actions.compactMap { if case .drain(let id) = $0 { id } else { nil } }
    }

    @Test func `Nothing is dialled without a lease or without work`() {
        var plan = ConnectionPlan()
        let actions = { plan.actions(at: self.start + $0) }
        plan.wanted = 3
        #expect(actions(.zero).isEmpty)
        plan.limit = 3
        plan.wanted = 0
        #expect(actions(.zero).isEmpty)
    }

    @Test func `Dials are paced`() {
        var plan = ConnectionPlan()
        let actions = { plan.actions(at: self.start + $0) }
        plan.limit = 3
        plan.wanted = 3
        #expect(self.opened(actions(.zero)).count == 1)
        #expect(actions(.milliseconds(499)).isEmpty)
        #expect(plan.nextTime(after: self.start) == self.start + .milliseconds(500))
        #expect(self.opened(actions(.milliseconds(500))).count == 1)
    }

    @Test func `Failed dials wait longer each time`() {
        var plan = ConnectionPlan()
        plan.limit = 1
        plan.wanted = 1
        var now = self.start
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            let id = self.opened(plan.actions(at: now))[0]
            plan.closed(id, at: now, random: 0)
            #expect(plan.nextTime(after: now) == now + .seconds(wait))
            now = now + .seconds(wait)
        }
    }

    @Test func `An accepted push forgets failed dials, and the first failure after it costs only the pace`() {
        var plan = ConnectionPlan()
        plan.limit = 1
        plan.wanted = 1
        var now = self.start
        for _ in 0..<5 {
            plan.closed(self.opened(plan.actions(at: now))[0], at: now, random: 0)
            now = now + .seconds(60)
        }
        let good = self.opened(plan.actions(at: now))[0]
        plan.ready(good, at: now, random: 0)
        plan.proved(good)
        now = now + .seconds(1)
        plan.retire(good)
        plan.closed(good, at: now, random: 0)
        // Told to go: another one at once.
        let hasty = self.opened(plan.actions(at: now))
        #expect(hasty.count == 1)
        plan.closed(hasty[0], at: now + .milliseconds(20), random: 0)
        #expect(plan.nextTime(after: now) == now + .milliseconds(500))
        now = now + .milliseconds(500)
        plan.closed(self.opened(plan.actions(at: now))[0], at: now, random: 0)
        #expect(plan.nextTime(after: now) == now + .seconds(1))
    }

    @Test func `A connection that ends before one push was accepted was a failed dial, unless it stood for long`() {
        for (life, isFailure) in [(Duration.seconds(2), true), (.seconds(40), false)] {
            var plan = ConnectionPlan()
            plan.limit = 1
            plan.wanted = 1
            let id = self.opened(plan.actions(at: self.start))[0]
            plan.ready(id, at: self.start, random: 0)
            let end = self.start + life
            plan.retire(id)
            plan.closed(id, at: end, random: 0)
            #expect(plan.actions(at: end).isEmpty == isFailure)
        }
    }

    @Test func `Dials that fail together are one failure`() {
        var plan = ConnectionPlan()
        plan.limit = 2
        plan.wanted = 2
        let first = self.opened(plan.actions(at: self.start))[0]
        let second = self.opened(plan.actions(at: self.start + .milliseconds(500)))[0]
        let end = self.start + .seconds(3)
        plan.closed(first, at: end, random: 0)
        plan.closed(second, at: end, random: 0)
        #expect(plan.nextTime(after: end) == end + .seconds(1))
    }

    // MARK: Replacing

    /// A plan with so many ready connections, a second apart.
    private func standing(_ count: Int, limit: Int) -> (ConnectionPlan, [ConnectionPlan.ID]) {
        var plan = ConnectionPlan()
        plan.limit = limit
        plan.wanted = count
        var ids: [ConnectionPlan.ID] = []
        for index in 0..<count {
            let now = self.start + .seconds(index)
            let id = self.opened(plan.actions(at: now))[0]
            plan.ready(id, at: now, random: .max)
            plan.proved(id)
            ids.append(id)
        }
        return (plan, ids)
    }

    @Test func `With room in the limit an outdated connection is drained when its successor is ready`() {
        var (plan, ids) = self.standing(2, limit: 3)
        plan.outdate()
        var now = self.start + .seconds(10)
        for old in ids {
            let successor = self.opened(plan.actions(at: now))
            #expect(successor.count == 1)
            #expect(plan.actions(at: now + .seconds(1)).isEmpty, "one at a time")
            plan.ready(successor[0], at: now + .seconds(2), random: 0)
            now = now + .seconds(2)
            #expect(plan.actions(at: now) == [.drain(old)])
            #expect(plan.actions(at: now + .seconds(1)).isEmpty, "it still counts")
            plan.closed(old, at: now + .seconds(1), random: 0)
            now = now + .seconds(1)
        }
        #expect(plan.outdated == 0)
        #expect(plan.actions(at: now).isEmpty)
    }

    @Test func `Without room an outdated connection is drained first, and the next one when all are ready again`() {
        var (plan, ids) = self.standing(2, limit: 2)
        plan.outdate()
        var now = self.start + .seconds(10)
        for old in ids {
            #expect(plan.actions(at: now) == [.drain(old)])
            #expect(plan.actions(at: now + .seconds(1)).isEmpty)
            now = now + .seconds(2)
            plan.closed(old, at: now, random: 0)
            let successor = self.opened(plan.actions(at: now))
            #expect(successor.count == 1)
            #expect(plan.actions(at: now + .milliseconds(900)).isEmpty, "not before it is ready")
            now = now + .seconds(1)
            plan.ready(successor[0], at: now, random: 0)
        }
        #expect(plan.actions(at: now).isEmpty)
    }

    @Test func `A successor that cannot be dialled leaves the outdated connection in use`() {
        var (plan, _) = self.standing(1, limit: 2)
        plan.outdate()
        var now = self.start + .seconds(10)
        for _ in 0..<5 {
            plan.closed(self.opened(plan.actions(at: now))[0], at: now, random: 0)
            #expect(plan.ready == 1)
            now = plan.nextTime(after: now) ?? now
        }
    }

    @Test func `A dial with an old credential is given up`() {
        var plan = ConnectionPlan()
        plan.limit = 2
        plan.wanted = 1
        let stale = self.opened(plan.actions(at: self.start))[0]
        plan.outdate()
        #expect(plan.actions(at: self.start) == [.drain(stale)])
        plan.closed(stale, at: self.start, random: 0)
        #expect(self.opened(plan.actions(at: self.start + .milliseconds(500))).count == 1, "at the usual pace")
    }

    @Test(arguments: [(UInt64(0), 9.0), (.max / 2, 12.0), (.max, 15.0)])
    func `A connection is replaced at its age, give or take a quarter`(random: UInt64, hours: Double) {
        var plan = ConnectionPlan()
        plan.limit = 2
        plan.wanted = 1
        let id = self.opened(plan.actions(at: self.start))[0]
        plan.ready(id, at: self.start, random: random)
        let end = self.start + .seconds(hours * 3600)
        #expect(plan.actions(at: end - .seconds(2)).isEmpty)
        let next = try! #require(plan.nextTime(after: self.start + .seconds(1)))
        #expect(next >= end - .seconds(2) && next <= end)
        #expect(self.opened(plan.actions(at: end)).count == 1)
    }

    @Test func `A shrunk lease drains the youngest first, and a draining connection still counts`() {
        var plan = ConnectionPlan()
        let actions = { plan.actions(at: self.start + $0) }
        plan.limit = 2
        plan.wanted = 2
        let first = self.opened(actions(.zero))[0]
        let second = self.opened(plan.actions(at: self.start + .seconds(1)))[0]
        plan.ready(first, at: self.start, random: 0)
        plan.ready(second, at: self.start, random: 0)
        plan.limit = 1
        #expect(actions(.seconds(2)) == [.drain(second)])
        #expect(plan.held == 2)
        plan.limit = 2
        #expect(actions(.seconds(3)).isEmpty)
        plan.closed(second, at: self.start + .seconds(4), random: 0)
        #expect(self.opened(actions(.seconds(4))).count == 1)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `Whatever happens, no dial exceeds the limit and every excess is drained`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var plan = ConnectionPlan()
        var model: [ConnectionPlan.ID: String] = [:]
        var now = self.start
        for _ in 0..<300 {
            now = now + .milliseconds(Int64.random(in: 0...2000, using: &random))
            let some = model.keys.randomElement(using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: plan.limit = Int.random(in: 0...6, using: &random)
            case 1: plan.wanted = Int.random(in: 0...6, using: &random)
            case 2:
                if let some, model[some] == "dialling" {
                    plan.ready(some, at: now, random: random.next())
                    model[some] = "ready"
                }
            case 3:
                if let some {
                    plan.closed(some, at: now, random: random.next())
                    model[some] = nil
                }
            case 4:
                if let some {
                    plan.retire(some)
                    model[some] = "draining"
                }
            case 5: if let some, model[some] == "ready" { plan.proved(some) }
            case 6: if Int.random(in: 0..<4, using: &random) == 0 { plan.outdate() }
            default: break
            }
            let before = model
            for action in plan.actions(at: now, mayOpen: Bool.random(using: &random)) {
                switch action {
                case .open(let id):
                    #expect(model.count < plan.limit, "seed \(seed)")
                    model[id] = "dialling"
                case .drain(let id):
                    #expect(model[id] == "dialling" || model[id] == "ready", "seed \(seed)")
                    model[id] = "draining"
                }
            }
            #expect(plan.held == model.count, "seed \(seed)")
            #expect(plan.ready == model.values.count { $0 == "ready" }, "seed \(seed)")
            let usable = model.values.count { $0 != "draining" }
            // One successor of an outdated connection may be there beyond what is wanted.
            let target = max(0, min(plan.limit, plan.wanted))
            #expect(usable <= min(plan.limit, target + 1), "seed \(seed)")
            if usable > target { #expect(plan.outdated > 0, "seed \(seed)") }
            // For a replacement no more than one that takes requests is given up at a time.
            let usableBefore = before.values.count { $0 != "draining" }
            let givenUp = before.count { $0.value == "ready" && model[$0.key] == "draining" }
            if usableBefore <= target { #expect(givenUp <= 1, "seed \(seed)") }
        }
    }
}
