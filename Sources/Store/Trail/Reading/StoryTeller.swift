internal import Push

/// Makes a story of what workers wrote of one message, in whatever order it is found.
///
/// One delivery may have several records: one written while it was not over, which the last one takes the place of, and
/// one each for tokens that went well and others. Records that are found twice count once.
enum StoryTeller {
    /// - Parameter records: all of one message.
    static func story(of records: [TrailRecord], names: [UInt32: SessionNames]) -> MessageStory? {
        guard let first = records.first else { return nil }
        var deliveries: [Key: [TrailRecord]] = [:]
        for record in Set(records) { deliveries[Key(record), default: []].append(record) }
        let ordered = deliveries.sorted { $0.key < $1.key }.map { self.final($0.value) }
        let line = ordered.lazy.compactMap { names[$0[0].session]?.line($0[0].line) }.first
        var steps: [TrailToken: [MessageStory.Step]] = [:]
        for (index, parts) in ordered.enumerated() {
            for record in parts {
                for token in record.tokens {
                    let step = self.step(token, of: record, index, names[record.session] ?? .unknown)
                    steps[token.identity, default: []].append(step)
                }
            }
        }
        return MessageStory(
            id: first.id,
            app: line?.app,
            lane: line?.lane,
            published: records.map(\.published).min() ?? first.published,
            isBroadcast: records.contains { $0.isBroadcast },
            tokenCount: max(records.map(\.total).max() ?? 0, steps.count),
            deliveries: ordered.map { self.delivery($0, names[$0[0].session] ?? .unknown) },
            tokens: steps.sorted { $0.key < $1.key }.map { MessageStory.Token(identity: $0.key, steps: $0.value) }
        )
    }

    /// What tells one delivery from another.
    private struct Key: Hashable, Comparable {
        let received: UnixTime
        let copies: Int
        let deliveries: Int
        let session: UInt32
        let attempts: Int
        let isRedelivered: Bool

        init(_ record: TrailRecord) {
            self.received = record.received
            self.copies = record.copies
            self.deliveries = record.deliveries
            self.session = record.session
            self.attempts = record.attempts
            self.isRedelivered = record.isRedelivered
        }

        static func < (left: Self, right: Self) -> Bool {
            (left.received, left.copies, left.deliveries, left.session, left.attempts, left.isRedelivered ? 1 : 0)
                < (
                    right.received, right.copies, right.deliveries, right.session, right.attempts,
                    right.isRedelivered ? 1 : 0
                )
        }
    }

    /// The records that hold: of an open delivery the last ones, of one that is over those of its end.
    private static func final(_ records: [TrailRecord]) -> [TrailRecord] {
        let closed = records.filter { $0.end != .open }
        let wanted = closed.isEmpty ? records : closed
        guard let last = wanted.map(\.ended).max() else { return records }
        let parts = wanted.filter { $0.ended == last }
        return parts.sorted { ($0.tokens.count, $0.end.rawValue) < ($1.tokens.count, $1.end.rawValue) }
    }

    private static func delivery(_ parts: [TrailRecord], _ names: SessionNames) -> MessageStory.Delivery {
        let record = parts[0]
        return MessageStory.Delivery(
            worker: names.worker,
            received: record.received,
            ended: record.ended,
            end: record.end,
            isRedelivered: record.isRedelivered,
            deliveries: record.deliveries,
            attempts: record.attempts,
            copies: record.copies,
            refusal: names.reason(record.refusal)
        )
    }

    private static func step(
        _ token: TrailRecord.Token,
        of record: TrailRecord,
        _ delivery: Int,
        _ names: SessionNames
    ) -> MessageStory.Step {
        let all = token.earlier + (token.answer.map { [$0] } ?? [])
        let answers = all.map { answer in
            MessageStory.Answer(
                time: answer.time,
                latency: answer.latency,
                connection: answer.connection,
                attempt: record.attempts + 1,
                result: names.result(answer.name)
            )
        }
        let time =
            token.answer?.time ?? (token.state == .sent ? record.received + .milliseconds(token.detail) : record.ended)
        let wait: Duration = .milliseconds(token.detail)
        let isWaiting = token.state == .retry || token.state == .postponed || token.state == .held
        return MessageStory.Step(
            delivery: delivery,
            state: self.state(token.state),
            time: time,
            answers: answers,
            cause: names.cause(token.name),
            due: isWaiting ? (token.answer == nil ? record.ended : time) + wait : nil,
            reason: token.state == .deadLetter ? names.reason(token.detail) : nil,
            invalidSince: token.state == .gone && token.detail > 0 ? UnixTime(seconds: Int64(token.detail)) : nil,
            isReturned: token.state == .returned || (token.state == .waiting && record.end != .open),
            end: record.end
        )
    }

    private static func state(_ state: TrailState) -> MessageStory.Token.State {
        switch state {
        case .waiting, .returned, .done: .waiting
        case .sent: .sent
        case .delivered: .delivered
        case .retry, .postponed: .retry
        case .held: .held
        case .deadLetter: .deadLetter
        case .gone: .gone
        case .cancelled: .cancelled
        }
    }
}
