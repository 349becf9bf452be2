import Push
import TestRandom
import Testing

@testable import Store

@Suite struct TrailFormatTests {
    @Test(arguments: [
        "order-17", "", "5b1f2c3d-0a4e-4f6b-8c9d-0e1f2a3b4c5d", "body-5b1f2c3d-0a4e-5f6b-8c9d-0e1f2a3b4c5d",
        "5B1F2C3D-0A4E-4F6B-8C9D-0E1F2A3B4C5D", "5b1f2c3d-0a4e-4f6b-8c9d-0e1f2a3b4c5", "body-",
        "5b1f2c3d-0a4e-4f6b-8c9d-0e1f2a3b4cxd", String(repeating: "x", count: 48), String(repeating: "x", count: 49),
        String(repeating: "y", count: 255), "müller\u{1b}[31m\n", "----------------------------------------",
    ])
    func `A message id comes back as it was, or cut and recognisable`(id: String) throws {
        let log = TrailLog()
        TrailRig.append(TrailRig.message(), id, [TrailRig.token(1)], to: log)
        let record = try #require(TrailRig.records(TrailRig.take(log)).first)
        #expect(record.id == TrailID(Array(id.utf8)))
        #expect(record.id != TrailID(Array("\(id)x".utf8)))
        if id.utf8.count <= 48 { #expect(record.id.text == Array(id.utf8) && !record.id.isCut) }
        if id.utf8.count > 48 { #expect(record.id.isCut) }
    }

    @Test func `An id that is a UUID takes its sixteen bytes, and a token that went well at most fourteen`() throws {
        let log = TrailLog()
        TrailRig.append(TrailRig.message(), "5b1f2c3d-0a4e-4f6b-8c9d-0e1f2a3b4c5d", [TrailRig.token(1)], to: log)
        let lists = TrailRig.take(log)
        #expect(lists.count == 2)
        let message = try #require(lists.first { $0.key & 0x100 == 0 }?.value)
        #expect(message.count - TrailFormat.headLength == 16 + 7 + 12)
        let link = try #require(lists.first { $0.key & 0x100 != 0 }?.value)
        #expect(link.count == 1 + TrailFormat.linkLength)
    }

    @Test func `Every list has a name of its own, as the contract writes it`() {
        #expect(Set((0..<TrailFormat.lists).map { TrailFormat.name($0) }).count == TrailFormat.lists)
        #expect(TrailFormat.name(TrailFormat.messages(0x3f, isPlain: true)) == "pm3f")
        #expect(TrailFormat.name(TrailFormat.tokens(0xa7 << 56, isPlain: false)) == "kta7")
        #expect(TrailFormat.name(0x1ff) == "ptff" && TrailFormat.name(0x200) == "km00")
    }

    @Test func `What is appended comes back, whatever it is`() throws {
        for seed in 0..<400 {
            var random = SeededRandom(spreading: UInt64(seed))
            let log = TrailLog()
            var expected: [TrailID: (MessageTrace, [TokenTrace], [EarlierAnswer])] = [:]
            for number in 0..<Int.random(in: 1...20, using: &random) {
                let (message, tokens, earlier) = Self.random(&random)
                let id = "\(seed)-\(number)"
                #expect(TrailRig.append(message, id, tokens, earlier, to: log))
                expected[TrailID(Array(id.utf8))] = (message, tokens, earlier)
            }
            let lists = TrailRig.take(log)
            #expect(log.isEmpty)
            var seen: [TrailID: [TrailRecord.Token]] = [:]
            for record in TrailRig.records(lists) {
                let (message, tokens, _) = try #require(expected[record.id])
                Self.expect(record, is: message)
                #expect(record.total == (message.refusal == 0 ? tokens.count : 0))
                seen[record.id, default: []] += record.tokens
            }
            #expect(Set(seen.keys) == Set(expected.keys))
            for (id, (message, tokens, earlier)) in expected {
                let told = message.refusal == 0 ? tokens.filter { $0.state != .done } : []
                #expect(seen[id]?.count == told.count)
                for token in seen[id] ?? [] {
                    let index = try #require(
                        tokens.firstIndex { UInt32(truncatingIfNeeded: $0.hash) == token.identity.tag }
                    )
                    Self.expect(token, is: tokens[index], earlier.filter { $0.token == index }, message)
                    let hash = tokens[index].hash
                    let links = [true, false].flatMap { plain in
                        TrailDecoder.messages(
                            lists[TrailFormat.tokens(hash, isPlain: plain)] ?? [TrailFormat.version],
                            of: token.identity.tag
                        ).tags
                    }
                    #expect(links.contains(TrailFormat.tag(ofMessage: id.hash)))
                }
            }
        }
    }

    @Test func `Only what went well at once, or waits untried, may go first`() {
        var plain = TrailRig.token(1)
        #expect(plain.isPlain)
        plain.sends = 2
        #expect(!plain.isPlain)
        for state in [TrailState.retry, .deadLetter, .gone] { #expect(!TrailRig.token(1, state).isPlain) }
        for state in [TrailState.waiting, .postponed, .held, .returned] { #expect(TrailRig.token(1, state).isPlain) }
        let log = TrailLog()
        let tokens = [TrailRig.token(1), TrailRig.token(2, .gone), TrailRig.token(3), TrailRig.token(4, .done)]
        let rows: [(MessageTrace, plain: Int, kept: Int)] = [
            (TrailRig.message(), 2, 1), (TrailRig.message(attempts: 1), 0, 3),
            (TrailRig.message(isRedelivered: true), 0, 3),
        ]
        for (message, plain, kept) in rows {
            TrailRig.append(message, "m", tokens, to: log)
            let lists = TrailRig.take(log)
            let hash = Fingerprint.of(Array("m".utf8))
            let counts = [true, false].map { isPlain in
                let element = lists[TrailFormat.messages(hash, isPlain: isPlain)] ?? []
                return TrailDecoder.records(element).records.first?.tokens.count ?? 0
            }
            #expect(counts == [plain, kept])
        }
    }

    @Test func `A log that is full says so, keeps what it has, and has room again when that is taken`() {
        let log = TrailLog()
        let tokens = (0..<1000).map { TrailRig.token($0, .deadLetter) }
        var count = 0
        while TrailRig.append(TrailRig.message(), "m\(count)", tokens, to: log) {
            count += 1
            guard count < 1000 else { break }
        }
        #expect((2..<100).contains(count) && log.isFull)
        #expect(TrailRig.records(TrailRig.take(log)).count == count)
        #expect(TrailRig.append(TrailRig.message(), "again", tokens, to: log))
    }

    // MARK: Hostile bytes

    @Test func `Bytes of anybody are read without harm, and what came before the fault is kept`() {
        var random = SeededRandom(seed: 17)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = TrailDecoder.records([TrailFormat.version] + bytes)
            _ = TrailDecoder.messages([TrailFormat.version] + bytes, of: 1)
        }
        let log = TrailLog()
        for number in 0..<40 {
            TrailRig.append(TrailRig.message(attempts: 1), "id-7", [TrailRig.token(number, .gone)], to: log)
        }
        let whole = TrailRig.take(log).first { $0.key & 0x100 == 0 }?.value ?? []
        #expect(TrailDecoder.records(whole).records.count == 40)
        for length in 0..<whole.count {
            let (records, isWhole) = TrailDecoder.records(Array(whole[..<length]))
            #expect(records.count <= 40 && (!isWhole || records.count < 40))
        }
        for _ in 0..<20_000 {
            var spoilt = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                spoilt[Int.random(in: 0..<spoilt.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let (records, _) = TrailDecoder.records(spoilt)
            _ = StoryTeller.story(of: records, names: [:])
        }
        #expect(TrailDecoder.records([2] + whole.dropFirst()).isWhole == false)
    }

    // MARK: Random records

    private static func random(_ random: inout SeededRandom) -> (MessageTrace, [TokenTrace], [EarlierAnswer]) {
        let far = Int64.random(in: -86_400_000 * 30...86_400_000 * 30, using: &random)
        let received = TrailRig.time + .milliseconds(random.chance(0.9) ? far / 100_000 : far)
        var message = TrailRig.message(received)
        message.line = UInt16.random(in: 0...400, using: &random)
        message.published = received - .milliseconds(Int64.random(in: -100_000...10_000_000, using: &random))
        message.attempts = random.chance(0.7) ? 0 : Int.random(in: 1...300, using: &random)
        message.copies = random.chance(0.7) ? 0 : Int.random(in: 1...300, using: &random)
        message.deliveries = random.chance(0.7) ? 0 : Int.random(in: 1...100, using: &random)
        message.isRedelivered = random.chance(0.2)
        message.isBroadcast = random.chance(0.1)
        message.end = TrailEnd(rawValue: UInt8.random(in: 0...3, using: &random))!
        message.ended = received + .milliseconds(Int64.random(in: 0...1_000_000, using: &random))
        if random.chance(0.1) {
            message.refusal = UInt16.random(in: 1...300, using: &random)
            return (message, [], [])
        }
        var tokens: [TokenTrace] = []
        var earlier: [EarlierAnswer] = []
        for number in 0..<Int.random(in: 1...(random.chance(0.1) ? 100 : 4), using: &random) {
            var token = TrailRig.token(number, TrailState.allCases.randomElement(using: &random)!)
            token.isAnswered = random.chance(0.7)
            token.sends = token.isAnswered ? UInt8.random(in: 1...4, using: &random) : token.state == .sent ? 1 : 0
            token.time = UInt32.random(in: 0...UInt32.max, using: &random) >> UInt32.random(in: 0...31, using: &random)
            token.latency = UInt32.random(in: 0...30_000, using: &random)
            token.connection = UInt16.random(in: 0...600, using: &random)
            token.name = random.chance(0.5) ? 0 : UInt16.random(in: 1...500, using: &random)
            token.detail = UInt32.random(in: 0...UInt32.max, using: &random)
            tokens.append(token)
            if token.sends > 1 { earlier.append(EarlierAnswer(number, token)) }
        }
        return (message, tokens, earlier)
    }

    private static func expect(_ record: TrailRecord, is message: MessageTrace) {
        #expect(record.line == Int(message.line) && record.session == 7)
        #expect(record.received == message.received && record.published == message.published)
        #expect(record.ended == message.ended && record.end == message.end)
        #expect(record.attempts == message.attempts && record.copies == message.copies)
        #expect(record.deliveries == message.deliveries && record.isRedelivered == message.isRedelivered)
        #expect(record.isBroadcast == message.isBroadcast && record.refusal == Int(message.refusal))
    }

    private static func expect(
        _ read: TrailRecord.Token,
        is token: TokenTrace,
        _ earlier: [EarlierAnswer],
        _ message: MessageTrace
    ) {
        #expect(read.state == token.state && read.identity.ends == token.ends && read.name == Int(token.name))
        #expect(read.sends == Int(token.sends))
        #expect((read.answer != nil) == token.isAnswered)
        if let answer = read.answer {
            #expect(answer.time == message.received + .milliseconds(Int64(token.time)))
            #expect(answer.latency == .milliseconds(Int64(token.latency)) && answer.connection == Int(token.connection))
        }
        switch token.state {
        case .retry, .postponed, .held, .deadLetter, .gone: #expect(read.detail == Int(token.detail))
        case .sent: #expect(read.detail == Int(token.time))
        case .waiting, .delivered, .returned, .done, .cancelled: #expect(read.detail == 0)
        }
        #expect(read.earlier.map(\.connection) == earlier.map { Int($0.connection) })
        #expect(read.earlier.map(\.name) == earlier.map { Int($0.name) })
    }
}
