internal import Push

/// Reads the elements of the trail's lists.
enum TrailDecoder {
    /// Tokens that a message may have.
    private static let tokenLimit = 1000

    /// The records of an element of a message list.
    /// - Returns: nil in `rest` if all of it could be read; else why not, and what came before.
    static func records(_ element: [UInt8]) -> (records: [TrailRecord], isWhole: Bool) {
        var bytes = TrailBytes(element)
        var records: [TrailRecord] = []
        do throws(TrailBytes.Malformed) {
            guard try bytes.byte() == TrailFormat.version else { throw TrailBytes.Malformed() }
            let session = UInt32(truncatingIfNeeded: try bytes.integer(bytes: 4))
            let base = Int64(try bytes.integer(bytes: 6))
            while !bytes.isAtEnd { records.append(try self.record(&bytes, session: session, base: base)) }
            return (records, true)
        } catch {
            return (records, false)
        }
    }

    /// The messages that an element of a token list names for a token.
    static func messages(_ element: [UInt8], of tag: UInt32) -> (tags: [UInt64], isWhole: Bool) {
        guard element.first == TrailFormat.version, (element.count - 1) % TrailFormat.linkLength == 0 else {
            return ([], false)
        }
        var tags: [UInt64] = []
        for start in stride(from: 1, to: element.count, by: TrailFormat.linkLength) {
            let mine = (0..<4).reduce(UInt32(0)) { $0 | UInt32(element[start + $1]) << UInt32(8 * $1) }
            guard mine == tag else { continue }
            tags.append((0..<6).reduce(UInt64(0)) { $0 | UInt64(element[start + 4 + $1]) << UInt64(8 * $1) })
        }
        return (tags, true)
    }

    private static func record(
        _ bytes: inout TrailBytes,
        session: UInt32,
        base: Int64
    ) throws(TrailBytes.Malformed) -> TrailRecord {
        let flags = try bytes.byte()
        let id = try self.id(&bytes, TrailIDKind(rawValue: flags & 3))
        guard let end = TrailEnd(rawValue: flags >> 2 & 3) else { throw TrailBytes.Malformed() }
        let line = try bytes.count()
        let received = try self.time(base, plus: bytes.signed())
        let published = try self.time(received.milliseconds, minus: bytes.signed())
        let ended = try self.time(received.milliseconds, plus: Int64(bytes.count()))
        var history = (0, 0, 0)
        if flags & TrailFormat.historyFollows != 0 {
            history = (try bytes.count(), try bytes.count(), try bytes.count())
        }
        var (refusal, total) = (0, 0)
        var tokens: [TrailRecord.Token] = []
        if flags & TrailFormat.isRefused != 0 {
            refusal = try bytes.count()
        } else {
            total = try bytes.count()
            let count = try bytes.count()
            guard total <= self.tokenLimit, count <= total else { throw TrailBytes.Malformed() }
            for _ in 0..<count { tokens.append(try self.token(&bytes, received: received)) }
        }
        return TrailRecord(
            id: id,
            session: session,
            line: line,
            received: received,
            published: published,
            ended: ended,
            end: end,
            isRedelivered: flags & TrailFormat.isRedelivered != 0,
            isBroadcast: flags & TrailFormat.isBroadcast != 0,
            attempts: history.0,
            copies: history.1,
            deliveries: history.2,
            refusal: refusal,
            total: total,
            tokens: tokens
        )
    }

    private static func id(_ bytes: inout TrailBytes, _ kind: TrailIDKind?) throws(TrailBytes.Malformed) -> TrailID {
        switch kind {
        case .uuid: return TrailID(TrailID.uuid(try bytes.take(16)))
        case .body: return TrailID(Array("body-".utf8) + TrailID.uuid(try bytes.take(16)))
        case .text:
            let count = Int(try bytes.byte())
            guard count <= TrailFormat.longestID else { throw TrailBytes.Malformed() }
            return TrailID(try bytes.take(count))
        case .long:
            let hash = try bytes.integer(bytes: 8)
            return TrailID(cut: try bytes.take(TrailFormat.keptOfLongID), hash: hash)
        case nil: throw TrailBytes.Malformed()
        }
    }

    private static func token(
        _ bytes: inout TrailBytes,
        received: UnixTime
    ) throws(TrailBytes.Malformed) -> TrailRecord.Token {
        let head = try bytes.byte()
        guard let state = TrailState(rawValue: head & 15), state != .done else { throw TrailBytes.Malformed() }
        let ends = UInt32(truncatingIfNeeded: try bytes.integer(bytes: 4))
        let tag = UInt32(truncatingIfNeeded: try bytes.integer(bytes: 4))
        let isAnswered = head & TrailFormat.isAnswered != 0
        var place = (0, 0, 0)
        if isAnswered { place = (try bytes.count(), try bytes.count(), try bytes.count()) }
        let name = head & TrailFormat.isNamed != 0 ? try bytes.count() : 0
        let sends = head & TrailFormat.wasResent != 0 ? try bytes.count() : (isAnswered || state == .sent ? 1 : 0)
        var detail = 0
        switch state {
        case .sent, .retry, .postponed, .held, .deadLetter, .gone: detail = try bytes.count()
        case .waiting, .delivered, .returned, .done, .cancelled: break
        }
        var earlier: [TrailRecord.Answer] = []
        if head & TrailFormat.earlierFollow != 0 {
            let count = try bytes.count()
            guard count <= self.tokenLimit else { throw TrailBytes.Malformed() }
            for _ in 0..<count {
                let place = (try bytes.count(), try bytes.count(), try bytes.count())
                earlier.append(try self.answer(place, name: bytes.count(), received: received))
            }
        }
        return TrailRecord.Token(
            identity: TrailToken(ends: ends, tag: tag),
            state: state,
            answer: isAnswered ? self.answer(place, name: name, received: received) : nil,
            earlier: earlier,
            name: name,
            sends: sends,
            detail: detail
        )
    }

    private static func answer(_ place: (Int, Int, Int), name: Int, received: UnixTime) -> TrailRecord.Answer {
        TrailRecord.Answer(
            time: received + .milliseconds(place.0),
            latency: .milliseconds(place.1),
            connection: place.2,
            name: name
        )
    }

    private static func time(_ base: Int64, plus offset: Int64) -> UnixTime {
        let (sum, overflow) = base.addingReportingOverflow(offset)
        return UnixTime(milliseconds: overflow ? base : sum)
    }

    private static func time(_ base: Int64, minus offset: Int64) -> UnixTime {
        let (sum, overflow) = base.subtractingReportingOverflow(offset)
        return UnixTime(milliseconds: overflow ? base : sum)
    }
}
