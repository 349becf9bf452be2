import Push
import TestRandom
import Testing

@testable import Broker

@Suite struct ConfirmLedgerTests {
    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private func results(_ body: ((PublishResult) -> Void) -> Void) -> [PublishResult] {
        var all: [PublishResult] = []
        body { all.append($0) }
        return all
    }

    /// nil if the ledger does not know the number.
    private func confirm(
        _ ledger: inout ConfirmLedger,
        _ sequence: UInt64,
        multiple: Bool,
        isNack: Bool = false
    ) -> [PublishResult]? {
        var all: [PublishResult] = []
        return ledger.confirm(sequence, multiple: multiple, isNack: isNack) { all.append($0) } ? all : nil
    }

    private func ledger(sent count: UInt64) -> ConfirmLedger {
        var ledger = ConfirmLedger()
        for number in 1...count {
            let sequence = ledger.sent(token: 100 + number, deadline: self.at(10))
            #expect(sequence == number)
        }
        return ledger
    }

    @Test func `Single and multiple confirms answer for each publish once`() {
        var ledger = self.ledger(sent: 6)
        #expect(
            self.confirm(&ledger, 3, multiple: false, isNack: false)
                == [PublishResult(token: 103, outcome: .confirmed)]
        )
        #expect(
            self.confirm(&ledger, 4, multiple: true, isNack: true)?.map(\.token) == [101, 102, 104]
        )
        #expect(self.confirm(&ledger, 4, multiple: true, isNack: false) == [])
        #expect(self.confirm(&ledger, 0, multiple: true, isNack: false)?.map(\.token) == [105, 106])
        #expect(ledger.count == 0)
        #expect(ledger.sent(token: 9, deadline: self.at(1)) == 7)
    }

    @Test func `A return makes the confirm after it a failure`() {
        var ledger = self.ledger(sent: 3)
        ledger.returned(2, code: 312, text: "NO_ROUTE")
        ledger.returned(99, code: 312, text: "never sent")
        let results = self.confirm(&ledger, 3, multiple: true, isNack: false)
        #expect(results?.map(\.outcome) == [.confirmed, .returned(code: 312, text: "NO_ROUTE"), .confirmed])
    }

    @Test(arguments: [(0, false), (4, false), (4, true)] as [(UInt64, Bool)])
    func `A confirm for what was never sent is known as such`(sequence: UInt64, multiple: Bool) {
        var ledger = self.ledger(sent: 3)
        #expect(self.confirm(&ledger, sequence, multiple: multiple) == nil)
        #expect(ledger.count == 3)
    }

    @Test func `Without a confirm in time the outcome is unknown, and a late one changes nothing`() {
        var ledger = ConfirmLedger()
        for number in 1...4 { _ = ledger.sent(token: UInt64(number), deadline: self.at(Int64(number))) }
        #expect(ledger.nextDeadline == self.at(1))
        let first = self.results { ledger.expire(at: self.at(2), $0) }
        #expect(first.map(\.outcome) == [.unknown(.timeout), .unknown(.timeout)])
        #expect(self.confirm(&ledger, 3, multiple: true, isNack: false)?.map(\.token) == [3])
        #expect(ledger.nextDeadline == self.at(4))
        ledger.holdExpiry(until: .distantFuture)
        #expect(self.results { ledger.expire(at: self.at(100), $0) } == [])
        ledger.holdExpiry(until: self.at(110))
        #expect(ledger.nextDeadline == self.at(110))
        #expect(self.results { ledger.expire(at: self.at(110), $0) }.map(\.token) == [4])
        #expect(ledger.nextDeadline == nil)
    }

    @Test func `When the channel ends, everything open is unknown`() {
        var ledger = self.ledger(sent: 3)
        _ = ledger.confirm(2, multiple: false, isNack: false) { _ in }
        let results = self.results { ledger.end(.silent, $0) }
        #expect(results == [101, 103].map { PublishResult(token: $0, outcome: .unknown(.lost(.silent))) })
        #expect(ledger.sent(token: 1, deadline: self.at(1)) == 1)
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `On random walks each token is answered for once, as a naive model says`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var ledger = ConfirmLedger()
        /// Sequence to token of what waits, and what was returned.
        var waiting: [UInt64: UInt64] = [:]
        var returned: Set<UInt64> = []
        var next: UInt64 = 1
        var token: UInt64 = 0
        for _ in 0..<600 {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<50:
                for _ in 0..<Int.random(in: 1...10, using: &random) {
                    token += 1
                    #expect(ledger.sent(token: token, deadline: .distantFuture) == next)
                    waiting[next] = token
                    next += 1
                }
            case 50..<98 where next > 1:
                // Mostly among what waits, sometimes an answer that came before.
                let sequence =
                    Bool.random(using: &random) ? waiting.keys.min() ?? 1 : .random(in: 1..<next, using: &random)
                if Int.random(in: 0..<10, using: &random) == 0, waiting[sequence] != nil {
                    ledger.returned(sequence, code: 312, text: "")
                    returned.insert(sequence)
                }
                let multiple = Bool.random(using: &random)
                let isNack = Int.random(in: 0..<5, using: &random) == 0
                let answered = waiting.keys.filter { multiple ? $0 <= sequence : $0 == sequence }.sorted()
                let expected = answered.map { number in
                    PublishResult(
                        token: waiting[number]!,
                        outcome: returned.contains(number)
                            ? .returned(code: 312, text: "") : isNack ? .nacked : .confirmed
                    )
                }
                for number in answered { waiting[number] = nil }
                let results = self.confirm(&ledger, sequence, multiple: multiple, isNack: isNack)
                #expect(results == expected, "seed \(seed)")
            case 98:
                let results = self.results { ledger.end(.closed, $0) }
                #expect(results.map(\.token) == waiting.sorted { $0.key < $1.key }.map(\.value), "seed \(seed)")
                (waiting, returned, next) = ([:], [], 1)
            default: break
            }
            #expect(ledger.count == waiting.count, "seed \(seed)")
        }
    }
}
