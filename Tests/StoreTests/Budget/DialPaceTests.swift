import Push
import TestModels
import TestRandom
import Testing

@testable import Store

@Suite struct DialPaceTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func at(_ milliseconds: Int) -> MonotonicTime { Self.start + .milliseconds(milliseconds) }

    private enum Event {
        case wants(Int, isRedisThere: Bool = true, DialPace.Verdict)
        case slot(Int, in: Int)
        case sentAway(Int, for: Int)
        case failed(Int)
        case wakes(Int?)
    }

    private func run(_ events: [Event]) {
        var pace = DialPace()
        for (index, event) in events.enumerated() {
            switch event {
            case .wants(let time, let isRedisThere, let verdict):
                let said = pace.wantsToDial(isRedisThere: isRedisThere, at: self.at(time))
                #expect(said == verdict, "event \(index)")
            case .slot(let time, let wait):
                let answer = PaceAnswer(hasSlot: true, wait: .milliseconds(wait))
                pace.answered(answer, at: self.at(time), random: 7)
            case .sentAway(let time, let wait):
                let answer = PaceAnswer(hasSlot: false, wait: .milliseconds(wait))
                pace.answered(answer, at: self.at(time), random: 200)
            case .failed(let time): pace.failed(at: self.at(time))
            case .wakes(let time): #expect(pace.wakeTime == time.map { self.at($0) }, "event \(index)")
            }
        }
    }

    @Test func `Every dial asks, and one slot is for one dial`() {
        self.run([
            .wants(0, .ask), .wakes(nil), .wants(1, .wait), .slot(2, in: 0), .wakes(2), .wants(2, .dial), .wakes(nil),
            .wants(502, .ask), .slot(503, in: 0), .wants(503, .dial),
        ])
    }

    @Test func `A slot is waited for, and lapses when it is not used`() {
        self.run([
            .wants(0, .ask), .slot(10, in: 800), .wakes(810), .wants(809, .wait), .wants(810, .dial),
            .wants(900, .ask), .slot(910, in: 0), .wants(1409, .dial),
            .wants(1500, .ask), .slot(1510, in: 100), .wants(2110, .ask), .wants(2111, .wait),
        ])
    }

    @Test func `Who is sent away asks again when told to, and a little later than others`() {
        self.run([
            .wants(0, .ask), .sentAway(10, for: 300), .wakes(510), .wants(509, .wait), .wants(510, .ask),
            .slot(520, in: 3_000), .wants(3_519, .wait), .wants(3_520, .dial),
        ])
    }

    @Test func `Without Redis the worker's own pace counts alone`() {
        self.run([
            .wants(0, isRedisThere: false, .dial), .wants(1, isRedisThere: false, .dial), .wakes(nil),
            // It goes away while it is asked, and while a slot is waited for.
            .wants(2, .ask), .failed(3), .wakes(3), .wants(3, .dial),
            .wants(4, .ask), .slot(5, in: 2_000), .wants(6, isRedisThere: false, .dial), .wants(2_005, .ask),
            // It is dialled while an answer is under way: that gives no second dial.
            .wants(2_006, isRedisThere: false, .dial), .failed(2_007), .wakes(nil), .wants(2_008, .ask),
        ])
    }

    /// Workers that want as many connections as they can get, a Redis that answers late or not at all.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `However many dial at once, no window breaks the law and all get their turn`(seed: UInt64) {
        var random = SeededRandom(spreading: seed)
        let rate = Int.random(in: 1...20, using: &random)
        let pace = ConnectPace(rate: rate)
        let most = Int.random(in: 0...80, using: &random)
        var model = PaceModel()
        var workers = (0..<Int.random(in: 1...50, using: &random)).map { _ in DialPace() }
        var wanted = workers.map { _ in Int.random(in: 1...3, using: &random) }
        var queue = EventHeap<(worker: Int, answer: PaceAnswer?)>()
        for worker in workers.indices { queue.insert((worker, nil), at: 0) }
        var dials: [Int] = []
        var now = 0
        let limit = 60_000 + 2_000 * wanted.reduce(0, +) / rate
        while let time = queue.nextTime, time < limit, let event = queue.pop() {
            now = max(now, time)
            let worker = event.worker
            if let answer = event.answer {
                workers[worker].answered(answer, at: self.at(now), random: .random(in: 0...UInt64.max, using: &random))
            }
            guard wanted[worker] > 0 else { continue }
            switch workers[worker].wantsToDial(isRedisThere: true, at: self.at(now)) {
            case .dial:
                dials.append(now)
                wanted[worker] -= 1
                queue.insert((worker, nil), at: now + 500)
            case .wait:
                guard let wake = workers[worker].wakeTime else { break }
                queue.insert((worker, nil), at: now + Int(max(wake - self.at(now), .milliseconds(1)).milliseconds))
            case .ask:
                // Asked and answered on the way there: what is late is the answer.
                let answer = model.take(at: pace, now: now * 1000)
                queue.insert((worker, answer), at: now + Int.random(in: 0...most, using: &random))
            }
        }
        #expect(wanted.allSatisfy { $0 == 0 }, "\(wanted.reduce(0, +)) dials are still wanted")
        // Answers that are late shift dials by so much, and times here are whole milliseconds.
        let late = most + 1
        for first in dials.indices {
            for last in first..<dials.endIndex {
                let window = dials[last] - dials[first] + late
                #expect((last - first + 1) * 1000 <= rate * (1000 + window))
            }
        }
    }
}
