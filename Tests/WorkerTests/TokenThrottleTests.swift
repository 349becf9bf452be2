import Push
import TestRandom
import Testing

@testable import Worker

@Suite struct TokenThrottleTests {
    private func push(_ slot: UInt32) -> SendQueue.Push {
        SendQueue.Push(flight: FlightID(slot: slot, generation: 1), token: 0)
    }
    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `So many go at once, the next waits for an answer, other tokens do not`() {
        let throttle = Box(TokenThrottle(limit: 2))
        #expect(throttle.admit(1, at: self.at(0)) == .go)
        #expect(throttle.admit(1, at: self.at(0)) == .go)
        #expect(throttle.admit(1, at: self.at(0)) == .wait)
        throttle.wait(self.push(3), for: 1)
        #expect(throttle.admit(1, at: self.at(0)) == .wait)
        throttle.wait(self.push(4), for: 1)
        #expect(throttle.admit(2, at: self.at(0)) == .go)
        #expect(throttle.answered(2, accepted: true).isEmpty)
        #expect(throttle.answered(1, accepted: true) == [self.push(3)])
        #expect(throttle.admit(1, at: self.at(0)) == .go)
        #expect(throttle.takeWaiting() == [self.push(4)])
        #expect(throttle.answered(1, accepted: true).isEmpty)
    }

    @Test func `A token that is too busy rests, then one push finds out`() {
        let throttle = Box(TokenThrottle(limit: 8))
        #expect(throttle.admit(1, at: self.at(0)) == .go)
        throttle.rest(1, until: self.at(60))
        #expect(throttle.answered(1, accepted: false).isEmpty)
        #expect(throttle.admit(1, at: self.at(59)) == .rest(until: self.at(60)))
        #expect(throttle.admit(2, at: self.at(59)) == .go)
        #expect(throttle.admit(1, at: self.at(60)) == .go)
        #expect(throttle.admit(1, at: self.at(60)) == .wait)
        throttle.wait(self.push(3), for: 1)
        throttle.wait(self.push(4), for: 1)
        throttle.rest(1, until: self.at(120))
        #expect(throttle.answered(1, accepted: false) == [self.push(3), self.push(4)], "both learn of the next rest")
        #expect(throttle.admit(1, at: self.at(61)) == .rest(until: self.at(120)))
        #expect(throttle.admit(1, at: self.at(120)) == .go)
        #expect(throttle.answered(1, accepted: true).isEmpty)
        #expect((0..<8).allSatisfy { _ in throttle.admit(1, at: self.at(120)) == .go })
    }

    @Test func `A token that rested long ago is forgotten`() {
        let throttle = Box(TokenThrottle(limit: 8))
        throttle.rest(1, until: self.at(60))
        throttle.forget(restedBefore: self.at(60))
        #expect(throttle.admit(1, at: self.at(1)) == .go)
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `Nobody waits for ever, and the limit holds`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let throttle = Box(TokenThrottle(limit: 3))
        var inFlight: [UInt64] = []
        var ready: [(SendQueue.Push, UInt64)] = []
        var tokens: [UInt32: UInt64] = [:]
        var sent = 0
        for slot in 0..<500 as Range<UInt32> {
            let token = UInt64.random(in: 0..<10, using: &random)
            tokens[slot] = token
            ready.append((self.push(slot), token))
        }
        while sent < 500 {
            if let (push, token) = ready.popLast() {
                switch throttle.admit(token, at: self.at(0)) {
                case .go:
                    sent += 1
                    inFlight.append(token)
                    #expect(inFlight.count { $0 == token } <= 3)
                case .wait: throttle.wait(push, for: token)
                case .rest: Issue.record("nothing rests")
                }
            }
            if ready.isEmpty || Bool.random(using: &random), !inFlight.isEmpty {
                let token = inFlight.remove(at: Int.random(in: inFlight.indices, using: &random))
                for push in throttle.answered(token, accepted: true) {
                    ready.append((push, tokens[push.flight.slot]!))
                }
            }
            if ready.isEmpty, inFlight.isEmpty, sent < 500 {
                Issue.record("\(500 - sent) wait for ever, seed \(seed)")
                return
            }
        }
    }

    @Test func `Tokens that differ in one digit have places of their own`() {
        var hashes: Set<UInt64> = []
        for number in 0..<10_000 {
            let text = String(repeating: "0", count: 64 - "\(number)".count) + "\(number)"
            hashes.insert(Array(text.utf8).withUnsafeBytes { TokenThrottle.hash($0) & 0x7fff })
        }
        #expect(hashes.count > 8000, "as many as chance gives for 32,768 places")
    }
}
