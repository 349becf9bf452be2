import TestRandom
import Testing

@testable import Worker

@Suite struct SendQueueTests {
    private func id(_ slot: UInt32) -> FlightID { FlightID(slot: slot, generation: 1) }

    @Test func `Urgent messages go first, each kind in order, large ones token by token`() {
        var queue = SendQueue()
        queue.append(self.id(1), tokens: 0..<2, isUrgent: false)
        queue.append(self.id(2), tokens: 0..<1, isUrgent: true)
        queue.append(self.id(3), tokens: 4..<6, isUrgent: true)
        #expect(queue.count == 5)
        let order = queue.takeAll().map { "\($0.flight.slot):\($0.token)" }
        #expect(order == ["2:0", "3:4", "3:5", "1:0", "1:1"])
        #expect(queue.count == 0)
    }

    @Test func `What waits moves to another queue whole and in order`() {
        var queue = SendQueue()
        queue.append(self.id(1), tokens: 0..<3, isUrgent: false)
        queue.append(self.id(2), tokens: 0..<4, isUrgent: true)
        queue.append(self.id(3), tokens: 1..<2, isUrgent: true)
        _ = queue.takeFirst()
        var other = SendQueue()
        while let entry = queue.takeFirstEntry() {
            other.append(entry.flight, tokens: entry.tokens, isUrgent: entry.isUrgent)
        }
        #expect(queue.count == 0)
        #expect(queue.takeFirst() == nil)
        let order = other.takeAll().map { "\($0.flight.slot):\($0.token)" }
        #expect(order == ["2:1", "2:2", "2:3", "3:1", "1:0", "1:1", "1:2"])
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `Every push queued comes out once`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = SendQueue()
        var waiting: [Bool: [String]] = [true: [], false: []]
        for slot in 0..<3000 as Range<UInt32> {
            if Bool.random(using: &random) {
                let tokens = 0..<Int.random(in: 0...3, using: &random)
                let isUrgent = Bool.random(using: &random)
                queue.append(self.id(slot), tokens: tokens, isUrgent: isUrgent)
                waiting[isUrgent]! += tokens.map { "\(slot):\($0)" }
            } else {
                let expected =
                    waiting[true]!.isEmpty
                    ? (waiting[false]!.isEmpty ? nil : waiting[false]!.removeFirst()) : waiting[true]!.removeFirst()
                let taken = queue.takeFirst().map { "\($0.flight.slot):\($0.token)" }
                #expect(taken == expected, "seed \(seed)")
            }
            #expect(queue.count == waiting[true]!.count + waiting[false]!.count, "seed \(seed)")
        }
    }
}
