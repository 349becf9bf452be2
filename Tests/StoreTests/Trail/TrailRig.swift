import Push
import TestRandom

@testable import Store

/// What tests of the trail make up.
enum TrailRig {
    static let time = UnixTime(milliseconds: 1_767_225_600_000)

    static func digits(_ number: Int) -> [UInt8] {
        var random = SeededRandom(spreading: UInt64(number))
        return (0..<64).map { _ in Array("0123456789abcdef".utf8)[Int.random(in: 0..<16, using: &random)] }
    }

    static func token(_ number: Int, _ state: TrailState = .delivered) -> TokenTrace {
        var trace = TokenTrace()
        let digits = Self.digits(number)
        digits.withUnsafeBytes { trace.identify($0, hash: Fingerprint.of($0)) }
        trace.state = state
        if state == .delivered {
            (trace.sends, trace.isAnswered, trace.time, trace.latency, trace.connection) = (1, true, 40, 30, 2)
        }
        return trace
    }

    static func message(
        _ received: UnixTime = TrailRig.time,
        end: TrailEnd = .acknowledged,
        attempts: Int = 0,
        copies: Int = 0,
        isRedelivered: Bool = false
    ) -> MessageTrace {
        MessageTrace(
            line: 1,
            received: received,
            published: received - .milliseconds(5),
            attempts: attempts,
            copies: copies,
            isRedelivered: isRedelivered,
            end: end,
            ended: received + .milliseconds(100)
        )
    }

    /// Appends to a log.
    @discardableResult
    static func append(
        _ message: MessageTrace,
        _ id: String,
        _ tokens: [TokenTrace],
        _ earlier: [EarlierAnswer] = [],
        to log: TrailLog
    ) -> Bool {
        tokens.withUnsafeBufferPointer { log.append(message, id: Array(id.utf8), tokens: $0, earlier: earlier) }
    }

    /// Everything in a log, list by list.
    static func take(_ log: TrailLog, session: UInt32 = 7) -> [Int: [UInt8]] {
        var lists: [Int: [UInt8]] = [:]
        log.take(session: session) { lists[$0] = Array($1) }
        return lists
    }

    /// The records of all message lists.
    static func records(_ lists: [Int: [UInt8]]) -> [TrailRecord] {
        lists.filter { $0.key & 0x100 == 0 }.sorted { $0.key < $1.key }.flatMap {
            TrailDecoder.records($0.value).records
        }
    }
}
