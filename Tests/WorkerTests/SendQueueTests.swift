import TestRandom
import Testing

@testable import Worker

@Suite struct SendQueueTests {
    private let only = AppTurn(app: 0)

    private func id(_ slot: UInt32) -> FlightID { FlightID(slot: slot, generation: 1) }

    @Test func `Urgent messages go first, each kind in order, large ones token by token`() {
        var queue = SendQueue()
        queue.append(self.id(1), tokens: 0..<2, isUrgent: false, of: self.only)
        queue.append(self.id(2), tokens: 0..<1, isUrgent: true, of: self.only)
        queue.append(self.id(3), tokens: 4..<6, isUrgent: true, of: self.only)
        #expect(queue.count == 5)
        let order = queue.takeAll().map { "\($0.flight.slot):\($0.token)" }
        #expect(order == ["2:0", "3:4", "3:5", "1:0", "1:1"])
        #expect(queue.count == 0)
    }

    @Test func `What waits moves to another queue whole and in order`() {
        var queue = SendQueue()
        queue.append(self.id(1), tokens: 0..<3, isUrgent: false, of: self.only)
        queue.append(self.id(2), tokens: 0..<4, isUrgent: true, of: self.only)
        queue.append(self.id(3), tokens: 1..<2, isUrgent: true, of: self.only)
        _ = queue.takeFirst()
        var other = SendQueue()
        while let entry = queue.takeFirstEntry() {
            other.append(entry.flight, tokens: entry.tokens, isUrgent: entry.isUrgent, of: entry.turn)
        }
        #expect(queue.count == 0)
        #expect(queue.takeFirst() == nil)
        let order = other.takeAll().map { "\($0.flight.slot):\($0.token)" }
        #expect(order == ["2:1", "2:2", "2:3", "3:1", "1:0", "1:1", "1:2"])
    }

    @Test func `Of ten pushes one is bulk's, as long as any waits`() {
        var queue = SendQueue()
        queue.append(self.id(1), tokens: 0..<3, isUrgent: false, of: self.only)
        queue.append(self.id(2), tokens: 0..<40, isUrgent: true, of: self.only)
        let order = queue.takeAll().map(\.flight.slot)
        #expect(order.indices.filter { order[$0] == 1 } == [9, 19, 29])
    }

    @Test func `Apps take turns by weight, and one that has nothing left is passed over`() {
        var queue = SendQueue()
        queue.append(self.id(1), tokens: 0..<100, isUrgent: false, of: AppTurn(app: 4))
        queue.append(self.id(2), tokens: 0..<100, isUrgent: false, of: AppTurn(app: 0, weight: 2))
        queue.append(self.id(3), tokens: 0..<4, isUrgent: false, of: AppTurn(app: 2))
        queue.append(self.id(1), tokens: 100..<101, isUrgent: false, of: AppTurn(app: 4))
        let order = queue.takeAll().map(\.flight.slot)
        var turns: [(slot: UInt32, count: Int)] = []
        for slot in order {
            if turns.last?.slot == slot { turns[turns.count - 1].count += 1 } else { turns.append((slot, 1)) }
        }
        #expect(turns.prefix(5).map(\.slot) == [1, 2, 3, 1, 2])
        #expect(turns.prefix(5).map(\.count) == [8, 16, 4, 8, 16])
        #expect(order.count == 205)
    }

    @Test func `Who may not go is passed over and comes last`() {
        var queue = SendQueue()
        for app in 0..<5 {
            queue.append(self.id(UInt32(app)), tokens: 0..<2, isUrgent: app % 2 == 0, of: AppTurn(app: app))
        }
        let first = queue.take { app, isUrgent in app == 3 && !isUrgent }
        #expect(first?.push.flight.slot == 3)
        #expect(first?.app == 3)
        #expect(queue.take { _, _ in false } == nil)
        #expect(queue.count == 9)
        #expect(queue.takeAll().map(\.flight.slot) == [0, 0, 2, 2, 4, 4, 3, 1, 1])
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `Every push queued comes out once, each app's in order, and none waits longer than a turn of each`(
        seed: UInt64
    ) {
        var random = SeededRandom(spreading: seed)
        var queue = SendQueue()
        var waiting: [String: [String]] = [:]
        /// Pushes of the lane that went since the app's last, while it had some waiting.
        var passed: [String: Int] = [:]
        for slot in 0..<3000 as Range<UInt32> {
            let turn = AppTurn(app: Int.random(in: 0..<6, using: &random), weight: 2)
            if Bool.random(using: &random) {
                let tokens = 0..<Int.random(in: 0...3, using: &random)
                let isUrgent = Bool.random(using: &random)
                queue.append(self.id(slot), tokens: tokens, isUrgent: isUrgent, of: turn)
                waiting["\(turn.app).\(isUrgent)", default: []] += tokens.map { "\(slot):\($0)" }
            } else {
                let kept = Int.random(in: 0..<12, using: &random)
                var urgent = false
                let taken = queue.take { app, isUrgent in
                    urgent = isUrgent
                    return app != kept
                }
                guard let taken else {
                    let others = waiting.filter { !$0.key.hasPrefix("\(kept).") }
                    #expect(others.values.allSatisfy { $0.isEmpty }, "seed \(seed)")
                    continue
                }
                let key = "\(taken.app).\(urgent)"
                #expect(waiting[key]?.first == "\(taken.push.flight.slot):\(taken.push.token)", "seed \(seed)")
                waiting[key]?.removeFirst()
                passed[key] = 0
                for other in waiting.keys where other != key && other.hasSuffix("\(urgent)") {
                    passed[other] =
                        waiting[other]!.isEmpty || other.hasPrefix("\(kept).") ? 0 : passed[other, default: 0] + 1
                    #expect(passed[other]! <= 6 * 16, "seed \(seed)")
                }
            }
            #expect(queue.count == waiting.values.reduce(0) { $0 + $1.count }, "seed \(seed)")
        }
    }
}
