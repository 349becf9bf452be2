import Push
import Testing

@testable import Simulator

@Suite struct FaultRulesTests {
    private static let draft = PushDraft()

    /// Which of `count` equal requests are hit.
    private func hits(_ rule: FaultRule, count: Int, seed: UInt64 = 1, draft: PushDraft = draft) -> [Int] {
        var rules = FaultRules(seed: seed)
        _ = rules.add(rule, at: MonotonicTime(nanoseconds: 0))
        let request = draft.request
        return (1...count).filter { place in
            let now = MonotonicTime(nanoseconds: Int64(place) * 1_000_000)
            return rules.fault(for: request, at: FaultRules.Place(connection: 7, request: place), now: now) != nil
        }
    }

    private func rule(_ set: (inout FaultRule.Match) -> Void) -> FaultRule {
        var match = FaultRule.Match()
        set(&match)
        return FaultRule(match: match, action: .drop)
    }

    @Test func `Each condition tells requests apart`() {
        let token = "A1a1"
        #expect(self.hits(self.rule { _ in }, count: 2) == [1, 2])
        #expect(self.hits(self.rule { $0.topic = "com.example.shop" }, count: 1) == [1])
        #expect(self.hits(self.rule { $0.topic = "com.example" }, count: 1) == [])
        #expect(self.hits(self.rule { $0.tokenPrefix = token }, count: 1) == [1])
        #expect(self.hits(self.rule { $0.tokenPrefix = token }, count: 1, draft: Self.draft.to("A1A1FF")) == [1])
        #expect(self.hits(self.rule { $0.tokenPrefix = token }, count: 1, draft: Self.draft.to("a1")) == [])
        #expect(self.hits(self.rule { $0.tokenPrefix = "a1b" }, count: 1) == [])
        #expect(self.hits(self.rule { $0.pathPrefix = "/3/device" }, count: 1) == [1])
        #expect(self.hits(self.rule { $0.pathPrefix = "/4" }, count: 1) == [])
        #expect(self.hits(self.rule { $0.connection = 7 }, count: 1) == [1])
        #expect(self.hits(self.rule { $0.connection = 8 }, count: 1) == [])
        #expect(self.hits(self.rule { $0.connectionRequest = 3 }, count: 5) == [3])
        #expect(self.hits(self.rule { $0.nth = 2 }, count: 5) == [2])
        #expect(self.hits(self.rule { $0.every = 2 }, count: 5) == [2, 4])
        #expect(self.hits(self.rule { $0.limit = 2 }, count: 5) == [1, 2])
        #expect(self.hits(self.rule { $0.window = .milliseconds(2)..<(.milliseconds(4)) }, count: 5) == [2, 3])
        #expect(self.hits(self.rule { $0.probability = 0 }, count: 5) == [])
        #expect(self.hits(self.rule { $0.probability = 1 }, count: 2) == [1, 2])
    }

    @Test func `The same seed gives the same faults, another one others`() {
        let rule = self.rule { $0.probability = 0.02 }
        let first = self.hits(rule, count: 10_000)
        #expect(first == self.hits(rule, count: 10_000))
        #expect(first != self.hits(rule, count: 10_000, seed: 2))
        #expect((150...250).contains(first.count))
    }

    @Test func `A rule's draws do not depend on the rules after it`() {
        var alone = FaultRules(seed: 5)
        var together = FaultRules(seed: 5)
        let rule = self.rule { $0.probability = 0.5 }
        _ = alone.add(rule, at: MonotonicTime(nanoseconds: 0))
        _ = together.add(rule, at: MonotonicTime(nanoseconds: 0))
        _ = together.add(self.rule { $0.probability = 0.5 }, at: MonotonicTime(nanoseconds: 0))
        for place in 1...200 {
            let now = MonotonicTime(nanoseconds: 1)
            let fault = alone.fault(
                for: Self.draft.request,
                at: FaultRules.Place(connection: 1, request: place),
                now: now
            )
            let other = together.fault(
                for: Self.draft.request,
                at: FaultRules.Place(connection: 1, request: place),
                now: now
            )
            #expect((fault != nil) == (other?.number == 0))
        }
    }

    @Test func `The first rule that fits is applied, and each counts its hits`() throws {
        var rules = FaultRules(seed: 1)
        let start = MonotonicTime(nanoseconds: 0)
        var once = self.rule { $0.limit = 1 }
        once.id = "once"
        #expect(rules.add(once, at: start) == "once")
        let added = rules.add(FaultRule(action: .reset(code: 7)), at: start)
        let id = try #require(added)
        let faults = (1...3).map { place in
            rules.fault(for: Self.draft.request, at: FaultRules.Place(connection: 1, request: place), now: start)?
                .action
        }
        #expect(faults == [.drop, .reset(code: 7), .reset(code: 7)])
        #expect(rules.uses.map(\.hits) == [1, 2])
        #expect(rules.uses.map(\.matched) == [3, 2])
        #expect(rules.remove(id) == true)
        #expect(rules.remove(id) == false)
        #expect(
            rules.fault(for: Self.draft.request, at: FaultRules.Place(connection: 1, request: 4), now: start)?.action
                == nil
        )
        // Replaced in its place, it counts from zero.
        #expect(rules.add(once, at: start) == "once")
        #expect(rules.uses.map(\.hits) == [0])
        #expect(rules.ids == ["once", id, "once"])
    }

    @Test func `Delays are drawn evenly between their bounds`() throws {
        var rules = FaultRules(seed: 3)
        let start = MonotonicTime(nanoseconds: 0)
        let bounds = Duration.milliseconds(10)...Duration.milliseconds(20)
        _ = rules.add(FaultRule(action: .pass, delay: bounds), at: start)
        var delays: [Duration] = []
        for place in 1...1000 {
            let found = rules.fault(
                for: Self.draft.request,
                at: FaultRules.Place(connection: 1, request: place),
                now: start
            )
            let fault = try #require(found)
            #expect(fault.processes)
            #expect(bounds.contains(fault.delay))
            delays.append(fault.delay)
        }
        let mean = delays.reduce(.zero, +) / 1000
        #expect(mean > .milliseconds(14) && mean < .milliseconds(16))
    }
}
