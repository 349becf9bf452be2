internal import Push

/// Records that wait to be written to Redis: one piece of memory of a fixed size, filled from the front.
///
/// A record costs no allocation and no look-up: it is appended, with a note which list it is for. Only when all of it is
/// taken are the records sorted by their lists.
package final class TrailLog {
    private struct Entry {
        let list: UInt16
        let length: UInt16
        let place: UInt32
    }

    private static let capacity = 192 * 1024
    private static let maximumEntries = 16 * 1024
    /// Beyond this it is worth to be written. Also bounds how long one flush blocks Redis.
    static let fullMark = 48 * 1024

    private let memory = UnsafeMutableRawPointer.allocate(byteCount: TrailLog.capacity, alignment: 8)
    private let entries = UnsafeMutablePointer<Entry>.allocate(capacity: TrailLog.maximumEntries)
    private let chunk = UnsafeMutableRawPointer.allocate(byteCount: TrailLog.capacity + 64, alignment: 8)
    private var used = 0
    private var count = 0
    /// Received times are told from here.
    private var base = UnixTime(milliseconds: 0)
    /// Messages in it.
    package private(set) var messages = 0

    package init() {}

    deinit {
        self.memory.deallocate()
        self.entries.deallocate()
        self.chunk.deallocate()
    }

    package var isEmpty: Bool { self.count == 0 }
    var isFull: Bool { self.used >= Self.fullMark }

    /// Forgets everything.
    func clear() {
        self.used = 0
        self.count = 0
        self.messages = 0
    }

    /// Takes down what became of a message.
    /// - Parameters:
    ///   - tokens: each with its fingerprint; none for a refused message.
    ///   - earlier: answers before the last ones.
    /// - Returns: whether there was room.
    package func append(
        _ message: MessageTrace,
        id: [UInt8],
        tokens: UnsafeBufferPointer<TokenTrace>,
        earlier: [EarlierAnswer]
    ) -> Bool {
        var kept = 0
        var told = 0
        for trace in tokens where trace.state != .done {
            told += 1
            if !trace.isPlain { kept += 1 }
        }
        let isSpecial = message.attempts > 0 || message.isRedelivered || message.refusal != 0
        if isSpecial { kept = told }
        let size = 2 * (Self.longestHead + TrailFormat.longestID) + told * Self.longestToken + earlier.count * 20
        guard self.used + size <= Self.capacity, self.count + told + 2 <= Self.maximumEntries else { return false }
        if self.count == 0 { self.base = message.received }
        self.messages += 1
        let hash = Fingerprint.of(id)
        let one = Record(message: message, id: id, hash: hash, total: tokens.count)
        if kept > 0 || isSpecial {
            self.write(one, kept, isPlain: false, all: kept == told, tokens, earlier)
        }
        if kept < told || (told == 0 && !isSpecial) {
            self.write(one, told - kept, isPlain: true, all: kept == 0, tokens, earlier)
        }
        return true
    }

    private static let longestHead = 80
    private static let longestToken = 48 + TrailFormat.linkLength

    private struct Record {
        let message: MessageTrace
        let id: [UInt8]
        let hash: UInt64
        let total: Int
    }

    private func write(
        _ record: borrowing Record,
        _ count: Int,
        isPlain: Bool,
        all: Bool,
        _ tokens: UnsafeBufferPointer<TokenTrace>,
        _ earlier: [EarlierAnswer]
    ) {
        let start = self.used
        var pen = TrailPen(self.memory, at: start)
        self.writeHead(record, count, &pen)
        for index in tokens.indices {
            let trace = tokens[index]
            guard trace.state != .done, all || trace.isPlain == isPlain else { continue }
            Self.write(trace, index, earlier, &pen)
        }
        self.note(TrailFormat.messages(record.hash, isPlain: isPlain), from: start, to: pen.count)
        let tag = TrailFormat.tag(ofMessage: record.hash)
        for trace in tokens where trace.state != .done && (all || trace.isPlain == isPlain) {
            let start = pen.count
            pen.word(TrailFormat.tag(ofToken: trace.hash))
            pen.short(tag)
            self.note(TrailFormat.tokens(trace.hash, isPlain: isPlain), from: start, to: pen.count)
        }
        self.used = pen.count
    }

    private func writeHead(_ record: borrowing Record, _ count: Int, _ pen: inout TrailPen) {
        let message = record.message
        let place = pen.count
        pen.byte(0)
        let kind = record.id.withUnsafeBytes { pen.id($0, hash: record.hash) }
        let hasHistory = message.attempts | message.copies | message.deliveries != 0
        var flags = kind.rawValue | message.end.rawValue << 2
        if hasHistory { flags |= TrailFormat.historyFollows }
        if message.isRedelivered { flags |= TrailFormat.isRedelivered }
        if message.refusal != 0 { flags |= TrailFormat.isRefused }
        if message.isBroadcast { flags |= TrailFormat.isBroadcast }
        pen.set(flags, at: place)
        pen.number(UInt64(message.line))
        pen.signed(message.received.milliseconds &- self.base.milliseconds)
        pen.signed(message.received.milliseconds &- message.published.milliseconds)
        pen.number(UInt64(max(0, message.ended.milliseconds &- message.received.milliseconds)))
        if hasHistory {
            pen.number(UInt64(max(0, message.attempts)))
            pen.number(UInt64(max(0, message.copies)))
            pen.number(UInt64(max(0, message.deliveries)))
        }
        guard message.refusal == 0 else { return pen.number(UInt64(message.refusal)) }
        pen.number(UInt64(record.total))
        pen.number(UInt64(count))
    }

    private static func write(_ trace: TokenTrace, _ index: Int, _ earlier: [EarlierAnswer], _ pen: inout TrailPen) {
        var head = trace.state.rawValue
        if trace.isAnswered { head |= TrailFormat.isAnswered }
        if trace.name != 0 { head |= TrailFormat.isNamed }
        if trace.sends > 1 { head |= TrailFormat.wasResent }
        let before = earlier.isEmpty ? 0 : earlier.count { $0.token == index }
        if before > 0 { head |= TrailFormat.earlierFollow }
        pen.byte(head)
        pen.word(trace.ends)
        pen.word(TrailFormat.tag(ofToken: trace.hash))
        if trace.isAnswered {
            pen.number(UInt64(trace.time))
            pen.number(UInt64(trace.latency))
            pen.number(UInt64(trace.connection))
        }
        if trace.name != 0 { pen.number(UInt64(trace.name)) }
        if trace.sends > 1 { pen.number(UInt64(trace.sends)) }
        switch trace.state {
        case .sent: pen.number(UInt64(trace.time))
        case .retry, .postponed, .held, .deadLetter, .gone: pen.number(UInt64(trace.detail))
        case .waiting, .delivered, .returned, .done, .cancelled: break
        }
        guard before > 0 else { return }
        pen.number(UInt64(before))
        for answer in earlier where answer.token == index {
            pen.number(UInt64(answer.time))
            pen.number(UInt64(answer.latency))
            pen.number(UInt64(answer.connection))
            pen.number(UInt64(answer.name))
        }
    }

    private func note(_ list: Int, from start: Int, to end: Int) {
        self.entries[self.count] = Entry(
            list: UInt16(truncatingIfNeeded: list),
            length: UInt16(truncatingIfNeeded: end - start),
            place: UInt32(truncatingIfNeeded: start)
        )
        self.count += 1
    }

    // MARK: Taking

    /// Gives all records, list by list, each list's as one element, and forgets them.
    func take(session: UInt32, _ give: (_ list: Int, _ element: UnsafeRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: TrailFormat.lists + 1) { starts in
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: self.count) { order in
                starts.initialize(repeating: 0)
                for index in 0..<self.count { starts[Int(self.entries[index].list) + 1] += 1 }
                for list in 0..<TrailFormat.lists { starts[list + 1] += starts[list] }
                // Each start moves to the end of its list, which is where the next one began.
                for index in 0..<self.count {
                    let list = Int(self.entries[index].list)
                    order[Int(starts[list])] = Int32(truncatingIfNeeded: index)
                    starts[list] += 1
                }
                var begin = 0
                for list in 0..<TrailFormat.lists {
                    let end = Int(starts[list])
                    guard end > begin else { continue }
                    give(list, self.element(of: list, order[begin..<end], session: session))
                    begin = end
                }
            }
        }
        self.clear()
    }

    private func element(
        of list: Int,
        _ order: Slice<UnsafeMutableBufferPointer<Int32>>,
        session: UInt32
    ) -> UnsafeRawBufferPointer {
        var pen = TrailPen(self.chunk, at: 0)
        pen.byte(TrailFormat.version)
        if list & 0x100 == 0 {
            pen.word(session)
            pen.short(UInt64(bitPattern: self.base.milliseconds))
        }
        for index in order {
            let entry = self.entries[Int(index)]
            pen.bytes(UnsafeRawBufferPointer(start: self.memory + Int(entry.place), count: Int(entry.length)))
        }
        return UnsafeRawBufferPointer(start: self.chunk, count: pen.count)
    }
}
