import Push
import TestRandom
import Testing

@testable import Loop

@Suite struct DeadlineHeapTests {
    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `Deadlines fire in order of time, then of asking; cancelled ones never`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var heap = DeadlineHeap()
        var model: [(time: Int64, name: Int)] = []
        var deadlines: [Int: Deadline] = [:]
        var fired: [Int] = []
        var now: Int64 = 0
        for name in 0..<400 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let time = now + Int64.random(in: -5...50, using: &random)
                let deadline = Deadline(time: MonotonicTime(nanoseconds: time)) { fired.append(name) }
                heap.insert(deadline)
                deadlines[name] = deadline
                model.append((time, name))
            case 2:
                guard let victim = model.randomElement(using: &random) else { continue }
                deadlines[victim.name]?.cancel()
                model.removeAll { $0.name == victim.name }
            default:
                now += Int64.random(in: 0...20, using: &random)
                fired = []
                while let due = heap.popDue(at: MonotonicTime(nanoseconds: now), askedBefore: heap.asked) { due.fire() }
                let expected = model.filter { $0.time <= now }.sorted { ($0.time, $0.name) < ($1.time, $1.name) }
                #expect(fired == expected.map(\.name), "seed \(seed)")
                model.removeAll { $0.time <= now }
            }
            let next = heap.next
            #expect(next?.nanoseconds == model.map(\.time).min(), "seed \(seed)")
        }
    }
}
