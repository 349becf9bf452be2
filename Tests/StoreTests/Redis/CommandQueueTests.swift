import Push
import TestRandom
import Testing

@testable import Store

@Suite struct CommandQueueTests {
    @Test(arguments: UInt64(0)..<20)
    func `A random walk agrees with a plain array`(seed: UInt64) {
        var random = SeededRandom(spreading: seed)
        var queue = CommandQueue<Int>()
        var model: [(Int, MonotonicTime)] = []
        for step in 0..<20_000 {
            let now = MonotonicTime(nanoseconds: Int64(step))
            switch Int.random(in: 0..<1000, using: &random) {
            case ..<520:
                queue.append(step, deadline: now + .nanoseconds(2_000))
                model.append((step, now + .nanoseconds(2_000)))
            case ..<999:
                let expected = model.isEmpty ? nil : model.removeFirst().0
                #expect(queue.answered() == expected)
            default:
                #expect(queue.failAll() == model.map(\.0))
                model = []
            }
            #expect(queue.count == model.count)
            #expect(queue.deadline == model.first?.1)
            #expect(queue.isOverdue(at: now) == model.first.map { $0.1 <= now } ?? false)
        }
    }
}
