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
        #expect(plan.nextDialTime == self.start + .milliseconds(500))
        #expect(self.opened(actions(.milliseconds(500))).count == 1)
    }

    @Test func `Failed dials wait longer each time, a success forgets them`() {
        var plan = ConnectionPlan()
        plan.limit = 1
        plan.wanted = 1
        var now = self.start
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            let id = self.opened(plan.actions(at: now))[0]
            plan.closed(id, at: now, random: 0)
            #expect(plan.nextDialTime == now + .seconds(wait))
            now = now + .seconds(wait)
        }
        let id = self.opened(plan.actions(at: now))[0]
        plan.ready(id)
        plan.closed(id, at: now, random: 0)
        #expect(plan.nextDialTime == now + .milliseconds(500))
    }

    @Test func `A shrunk lease drains the youngest first, and a draining connection still counts`() {
        var plan = ConnectionPlan()
        let actions = { plan.actions(at: self.start + $0) }
        plan.limit = 2
        plan.wanted = 2
        let first = self.opened(actions(.zero))[0]
        let second = self.opened(plan.actions(at: self.start + .seconds(1)))[0]
        plan.ready(first)
        plan.ready(second)
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
            switch Int.random(in: 0..<6, using: &random) {
            case 0: plan.limit = Int.random(in: 0...6, using: &random)
            case 1: plan.wanted = Int.random(in: 0...6, using: &random)
            case 2:
                if let some, model[some] == "dialling" {
                    plan.ready(some)
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
            default: break
            }
            for action in plan.actions(at: now) {
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
            #expect(usable <= max(0, min(plan.limit, plan.wanted)), "seed \(seed)")
        }
    }
}
