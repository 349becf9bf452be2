import Push
import Store
import TestRandom
import Testing

@testable import Worker

@Suite struct RateAllowanceTests {
    private static let limit = try! RateLimit(rate: 200, bucketSize: 50)
    private func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    private func answer(_ tokens: Int, _ due: Int = 0, isCrowded: Bool = false) -> RateAnswer {
        RateAnswer(tokens: tokens, due: .milliseconds(due), isCrowded: isCrowded)
    }

    @Test func `Nothing goes without a token, and one request at a time fetches a batch`() {
        let rate = Box(RateAllowance(Self.limit))
        #expect(!rate.hasToken(at: self.at(0)))
        #expect(rate.request(waiting: 0, at: self.at(0)) == nil)
        #expect(rate.request(waiting: 500, at: self.at(0)) == RateRequest(need: 10, want: 10))
        #expect(rate.request(waiting: 500, at: self.at(0)) == nil)
        #expect(rate.wakeTime(at: self.at(0)) == nil, "the answer wakes")
        rate.value.answered(self.answer(2), at: self.at(1), random: 0)
        #expect(rate.newlyDue(at: self.at(1)) == (2, false))
        #expect(rate.newlyDue(at: self.at(1)) == (0, false))
        for _ in 0..<2 {
            #expect(rate.hasToken(at: self.at(1)))
            rate.value.take(at: self.at(1))
        }
        #expect(!rate.hasToken(at: self.at(1)))
        #expect(rate.request(waiting: 3, at: self.at(1)) == RateRequest(need: 3, want: 3))
    }

    @Test func `Tokens are used when they are due, and lapse soon after`() {
        let rate = Box(RateAllowance(Self.limit))
        let life = Self.limit.life.milliseconds
        _ = rate.request(waiting: 4, at: self.at(0))
        rate.value.answered(self.answer(4, 100), at: self.at(10), random: 0)
        #expect(!rate.hasToken(at: self.at(109)))
        #expect(rate.newlyDue(at: self.at(109)) == (0, false))
        #expect(rate.request(waiting: 4, at: self.at(109)) == nil, "what is due later comes first")
        #expect(rate.wakeTime(at: self.at(109)) == self.at(110))
        #expect(rate.hasToken(at: self.at(110)))
        #expect(rate.newlyDue(at: self.at(110)) == (4, true))
        // The bucket may have answered right after it was asked.
        #expect(rate.hasToken(at: self.at(100 + life)))
        #expect(!rate.hasToken(at: self.at(100 + life + 1)))
        _ = rate.request(waiting: 4, at: self.at(300))
        rate.value.answered(self.answer(4), at: self.at(300 + life + 1), random: 0)
        #expect(!rate.hasToken(at: self.at(300 + life + 1)), "an answer that took too long is worth nothing")
        #expect(rate.request(waiting: 4, at: self.at(300 + life + 1)) != nil)
    }

    @Test func `Who is sent away, or has no answer, or is asked to let others go first, asks later`() {
        let rate = Box(RateAllowance(Self.limit))
        _ = rate.request(waiting: 4, at: self.at(0))
        rate.value.answered(self.answer(0, 50, isCrowded: true), at: self.at(0), random: 999)
        #expect(rate.request(waiting: 4, at: self.at(349)) == nil)
        #expect(rate.request(waiting: 4, at: self.at(350)) != nil)
        rate.value.failed(at: self.at(350))
        #expect(rate.wakeTime(at: self.at(350)) == self.at(600))
        #expect(rate.request(waiting: 4, at: self.at(599)) == nil)
        #expect(rate.request(waiting: 4, at: self.at(600)) != nil)
        rate.value.answered(self.answer(4, 20, isCrowded: true), at: self.at(600), random: 0)
        #expect(rate.newlyDue(at: self.at(620)) == (4, true))
        for _ in 0..<4 { rate.value.take(at: self.at(620)) }
        #expect(rate.request(waiting: 4, at: self.at(919)) == nil)
        #expect(rate.request(waiting: 4, at: self.at(920)) != nil)
    }

    @Test func `At a pace a few more are asked for, and after a silence none`() {
        let limit = try! RateLimit(rate: 10_000)
        let rate = Box(RateAllowance(limit))
        var now = self.at(0)
        var trips = 0
        for _ in 0..<1000 {
            if !rate.hasToken(at: now) {
                let request = rate.request(waiting: 1, at: now)!
                trips += 1
                rate.value.answered(self.answer(request.want), at: now, random: 0)
            }
            rate.value.take(at: now)
            now = now + .milliseconds(1)
        }
        #expect(trips < 40, "a trip for 50 pushes at a pace of 1,000 a second")
        now = now + .seconds(1)
        #expect(rate.request(waiting: 1, at: now) == RateRequest(need: 1, want: 1))
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `Whatever happens, no more is used than was given, and who waits is woken`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let rate = Box(RateAllowance(Self.limit))
        var (now, given, used) = (self.at(0), 0, 0)
        var isAsked = false
        for _ in 0..<3000 {
            now = now + .milliseconds(Int64.random(in: 0...30, using: &random))
            if isAsked, Bool.random(using: &random) {
                isAsked = false
                let tokens = Int.random(in: 0...5, using: &random)
                if Int.random(in: 0..<10, using: &random) == 0 {
                    rate.value.failed(at: now)
                } else {
                    given += tokens
                    let answer = self.answer(
                        tokens,
                        Int.random(in: 0...100, using: &random),
                        isCrowded: Bool.random(using: &random)
                    )
                    rate.value.answered(answer, at: now, random: random.next())
                }
            }
            _ = rate.newlyDue(at: now)
            while rate.hasToken(at: now), Bool.random(using: &random) {
                rate.value.take(at: now)
                used += 1
            }
            if rate.request(waiting: 9, at: now) != nil {
                #expect(!isAsked)
                isAsked = true
            }
            let wake = rate.wakeTime(at: now)
            #expect((wake == nil) == (isAsked && wake == nil), "seed \(seed): nothing wakes")
        }
        #expect(used > 0 && used <= given, "seed \(seed)")
    }
}

extension Box<RateAllowance> {
    func hasToken(at now: MonotonicTime) -> Bool { self.value.hasToken(at: now) }
    func newlyDue(at now: MonotonicTime) -> (tokens: Int, isLate: Bool) { self.value.newlyDue(at: now) }
    func request(waiting: Int, at now: MonotonicTime) -> RateRequest? { self.value.request(waiting: waiting, at: now) }
    func wakeTime(at now: MonotonicTime) -> MonotonicTime? { self.value.wakeTime(at: now) }
}
