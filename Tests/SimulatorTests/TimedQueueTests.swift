import Push
import Testing

@testable import Simulator

@Suite struct TimedQueueTests {
    @Test(arguments: [UInt64(1), 2, 3, 4]) func `It gives things back by time, then by order of arrival`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = TimedQueue<Int>()
        var model: [(time: Int64, number: Int)] = []
        var now: Int64 = 0
        for number in 0..<20_000 {
            now += Int64(random.next() % 3)
            // Mostly one delay, as in life; sometimes any.
            let delay = random.next() % 10 == 0 ? Int64(random.next() % 500) : 50
            queue.insert(number, at: MonotonicTime(nanoseconds: now + delay))
            model.append((now + delay, number))
            #expect(queue.count == model.count)
            guard random.next() % 4 == 0 else { continue }
            let due = model.filter { $0.time <= now }.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
            model.removeAll { $0.time <= now }
            var popped: [Int] = []
            while let next = queue.popDue(at: MonotonicTime(nanoseconds: now)) { popped.append(next) }
            #expect(popped == due.map(\.number))
            #expect(queue.next?.nanoseconds == model.map(\.time).min())
        }
        #expect(queue.elements.sorted() == model.map(\.number).sorted())
    }
}
