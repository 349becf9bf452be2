import Push
import TestRandom
import Testing

@Suite("Token ledger")
struct TokenLedgerTests {
    static let levels = [10_000, 20_000].map { DelayLevel(milliseconds: $0) }
    static let settlements: [Settlement] = [
        .delivered, .delivered, .delivered, .giveBack,
        .retry(after: Self.levels[0], counted: true), .retry(after: Self.levels[0], counted: false),
        .retry(after: Self.levels[1], counted: true),
        .deadLetter(.apnsRejected, apns: .payloadTooLarge), .deadLetter(.apnsRejected, apns: .topicDisallowed),
        .deadLetter(.suspectToken, apns: .badDeviceToken), .deadLetter(.ageLimit, apns: nil),
        .tokenGone(at: UnixTime(milliseconds: 5), .unregistered), .tokenGone(at: nil, .expiredToken),
    ]

    @Test("one token, delivered")
    func single() {
        var ledger = TokenLedger(tokenCount: 1)
        #expect(!ledger.isComplete && ledger.openCount == 1 && ledger.open == [0])
        ledger.settle(0, as: .delivered)
        #expect(ledger.isComplete && ledger.isDone && ledger.deliveredCount == 1)
        #expect(ledger.retries.isEmpty && ledger.deadLetters.isEmpty && ledger.gone.isEmpty && ledger.givenBack.isEmpty)
        #expect(ledger.takeDirty() == [0])
        #expect(!ledger.hasDirty && ledger.takeDirty().isEmpty)
    }

    @Test("delivered tokens that somebody is told of are done when that is confirmed")
    func told() {
        var ledger = TokenLedger(tokenCount: 2, tellsDelivered: true)
        ledger.settle(0, as: .delivered)
        #expect(!ledger.hasDirty && ledger.deliveredCount == 1)
        ledger.confirm(0)
        #expect(ledger.takeDirty() == [0] && !ledger.isDone)
        ledger.settle(1, as: .delivered)
        ledger.confirm(1)
        #expect(ledger.isComplete && ledger.isDone)
    }

    @Test("one token, any settlement", arguments: Self.settlements)
    func singleOther(settlement: Settlement) {
        var ledger = TokenLedger(tokenCount: 1)
        ledger.settle(0, as: settlement)
        #expect(ledger.isComplete == true)
        #expect(ledger.isDone == (settlement == .delivered))
        if settlement != .delivered {
            #expect(ledger.hasDirty == false)
            ledger.confirm(0)
            #expect(ledger.isDone && ledger.takeDirty() == [0])
        }
    }

    @Test("tokens done before are neither sent nor counted again")
    func redelivered() {
        // Bits 0, 9 and 10 as SETBIT writes them, and one past the end.
        var ledger = TokenLedger(tokenCount: 11, done: TokenBits(capacity: 11, redisBitmap: [0x80, 0x70, 0xFF]))
        #expect(ledger.alreadyDoneCount == 3)
        #expect(ledger.open == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(ledger.isSettled(9) && !ledger.isSettled(8))
        for token in ledger.open { ledger.settle(token, as: .delivered) }
        #expect(ledger.isComplete && ledger.isDone && ledger.deliveredCount == 8)
        #expect(ledger.takeDirty() == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(TokenLedger(tokenCount: 3, done: TokenBits(capacity: 3, redisBitmap: [0xE0])).isComplete == true)
    }

    /// What the ledger does, written so that it cannot be wrong: one settlement per token in a dictionary.
    struct Model {
        var settled: [Int: Settlement] = [:]
        var confirmed: Set<Int> = []
        var reported: Set<Int> = []
        var before: Set<Int> = []

        var done: Set<Int> {
            self.before.union(self.confirmed).union(self.settled.filter { $0.value == .delivered }.keys)
        }
    }

    @Test("agrees with a naive model on a random walk", arguments: Array(100..<160) as [UInt64])
    func walk(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = [1, 2, 7, 63, 64, 65, 128, 129, 1000].randomElement(using: &random)!
        var model = Model()
        var bitmap = [UInt8](repeating: 0, count: Int.random(in: 0...(count / 8 + 2), using: &random))
        for index in bitmap.indices where Bool.random(using: &random) {
            bitmap[index] = UInt8.random(in: .min ... .max, using: &random)
        }
        for token in 0..<count where token / 8 < bitmap.count && bitmap[token / 8] >> (7 - token % 8) & 1 == 1 {
            model.before.insert(token)
        }
        var ledger = TokenLedger(tokenCount: count, done: TokenBits(capacity: count, redisBitmap: bitmap))
        var open = (0..<count).filter { !model.before.contains($0) }.shuffled(using: &random)
        #expect(ledger.open == open.sorted(), "seed \(seed)")
        var waiting: [Int] = []
        while !open.isEmpty || !waiting.isEmpty {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                let expected = model.done.subtracting(model.before).subtracting(model.reported)
                #expect(ledger.hasDirty == !expected.isEmpty)
                #expect(ledger.takeDirty() == expected.sorted(), "seed \(seed)")
                model.reported.formUnion(expected)
            case 1...3 where !waiting.isEmpty:
                let token = waiting.remove(at: Int.random(in: waiting.indices, using: &random))
                ledger.confirm(token)
                model.confirmed.insert(token)
            default:
                guard let token = open.popLast() else { continue }
                let settlement = Self.settlements.randomElement(using: &random)!
                ledger.settle(token, as: settlement)
                model.settled[token] = settlement
                if settlement != .delivered { waiting.append(token) }
            }
            #expect(ledger.openCount == open.count)
            #expect(ledger.isComplete == open.isEmpty)
            #expect(ledger.isDone == (model.done.count == count))
        }
        self.compare(ledger, model, seed)
    }

    func compare(_ ledger: borrowing TokenLedger, _ model: Model, _ seed: UInt64) {
        #expect(ledger.alreadyDoneCount == model.before.count)
        var rebuilt: [Int: Settlement] = [:]
        var listed = 0
        func add(_ tokens: [Int], _ settlement: Settlement) {
            listed += tokens.count
            for token in tokens { rebuilt[token] = settlement }
        }
        for group in ledger.retries { add(group.tokens, .retry(after: group.level, counted: group.counted)) }
        for group in ledger.deadLetters { add(group.tokens, .deadLetter(group.reason, apns: group.apns)) }
        for gone in ledger.gone { add([gone.token], .tokenGone(at: gone.at, gone.reason)) }
        add(ledger.givenBack, .giveBack)
        #expect(listed == rebuilt.count, "a token is in two groups, seed \(seed)")
        #expect(rebuilt == model.settled.filter { $0.value != .delivered }, "seed \(seed)")
        #expect(ledger.deliveredCount == model.settled.values.count { $0 == .delivered })
        #expect(ledger.retries.count <= 3 && ledger.deadLetters.count <= 4)
    }

    @Test("settling a token twice is a bug that shows at once")
    func twice() async {
        await #expect(processExitsWith: .failure) {
            var ledger = TokenLedger(tokenCount: 2)
            ledger.settle(1, as: .delivered)
            ledger.settle(1, as: .giveBack)
        }
        await #expect(processExitsWith: .failure) {
            var ledger = TokenLedger(tokenCount: 2)
            ledger.confirm(1)
        }
        await #expect(processExitsWith: .failure) {
            var ledger = TokenLedger(tokenCount: 2)
            ledger.settle(2, as: .delivered)
        }
    }

    @Test("a set of tokens agrees with Set", arguments: [1, 63, 64, 65, 1000])
    func bits(capacity: Int) {
        var random = SeededRandom(seed: UInt64(capacity))
        var bits = TokenBits(capacity: capacity)
        var model: Set<Int> = []
        for _ in 0..<capacity * 2 {
            let token = Int.random(in: 0..<capacity, using: &random)
            #expect(bits.insert(token) == model.insert(token).inserted)
            #expect(bits.count == model.count)
        }
        #expect(bits.tokens == model.sorted())
        #expect(bits.missing == (0..<capacity).filter { !model.contains($0) })
        bits.removeAll()
        #expect(bits == TokenBits(capacity: capacity))
    }
}
