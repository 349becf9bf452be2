internal import Foundation
internal import Push
internal import Registry
internal import SNS
internal import Store

/// `GET /pushfleet/messages/{id}`: what became of one publish, by the trail that workers write.
///
/// Nothing is scanned: a publish to one endpoint has the message id as it is, everything else ids that are made of it
/// and of the chunk, the application's number in the chunk, and the part (``FanOutChunk``), and each is looked up by
/// itself.
struct MessageLookUp: Sendable {
    let run: ActionRun

    /// Applications of a chunk that are looked for at a time; more as long as the last of them is found.
    private static let groups = 4
    private static let mostGroups = 64
    /// A message of fewer tokens is the last part of its group, however long they are.
    private static let leastOfFullPart = 500
    /// Messages to one token that are looked at.
    private static let tokenLimit = 200

    /// - Parameter query: `next`, which page; or `endpoint`, the ARN of the one endpoint to tell of.
    func answer(_ id: String, _ query: [String: String]) async throws(SNSError) -> [UInt8] {
        guard let name = SNS.UUID(id.lowercased())?.description else {
            throw .invalidParameter("message id", reason: "must be a UUID, as Publish answers it")
        }
        var facts = MessageFacts(id: name)
        facts.wanted = try await self.wanted(query["endpoint"])
        try await self.readKeys(&facts)
        facts.chunk = try Self.chunk(query["next"], of: facts.fanOut)
        if let wanted = facts.wanted {
            try await self.readToken(wanted, &facts)
        } else {
            try await self.readMessages(&facts)
        }
        guard let report = MessageReport(facts) else { throw MessageReport.nothing(facts) }
        return Self.json(report)
    }

    static func chunk(_ next: String?, of fanOut: MessageFacts.FanOut?) throws(SNSError) -> Int {
        guard let text = try PageToken.decode(next) else { return 0 }
        guard let number = Int(text), number >= 0, number < max(1, fanOut?.chunks ?? 1) else {
            throw .invalidNextToken()
        }
        return number
    }

    private func wanted(_ text: String?) async throws(SNSError) -> MessageFacts.Wanted? {
        guard let text else { return nil }
        let arn = try EndpointARN(text, parameter: "endpoint")
        guard self.run.isOwn(arn.application), let name = arn.key else { throw .noEndpoint }
        let endpoint = try await self.run.ask { registry, done in registry.endpoint(name, done) }
        guard let endpoint else { throw .noEndpoint }
        return MessageFacts.Wanted(arn: arn.description, digits: Array(endpoint.token.text.utf8))
    }

    // MARK: Redis

    private func readKeys(_ facts: inout MessageFacts) async throws(SNSError) {
        let id = facts.id
        let result: Result<[RedisReply], RedisFailure> = await self.run.service.desk.ask { core, completion in
            core.redis.send(RedisCommand("GET", Keys.scheduled(id))) { schedule in
                core.redis.send(RedisCommand("HMGET", FanOutProgress.orderKey(id), "owner", "chunk", "done")) { order in
                    completion(schedule.flatMap { schedule in order.map { [schedule, $0] } })
                }
            }
        }
        let replies = try self.found(result)
        facts.schedule = replies[0].text
        if let order = replies[1].elements, order.count == 3, order[0] != .null {
            facts.fanOut = MessageFacts.FanOut(chunks: Int(order[1].integer ?? 0), done: order[2].integer == 1)
        }
    }

    private func readToken(_ wanted: MessageFacts.Wanted, _ facts: inout MessageFacts) async throws(SNSError) {
        guard let found = try await self.find([.token(wanted.digits, limit: Self.tokenLimit)]).first else { return }
        let whole = Array(facts.id.utf8)
        let parts = Array("\(facts.id).".utf8)
        facts.stories = found.stories.filter { $0.id.text == whole || $0.id.text.starts(with: parts) }
        facts.coverage = found.coverage
        facts.unreadable = found.unreadable
    }

    private func readMessages(_ facts: inout MessageFacts) async throws(SNSError) {
        var group = 0
        if facts.fanOut == nil { _ = try await self.read([facts.id], &facts) }
        while group < Self.mostGroups {
            let groups = group..<group + Self.groups
            var open = groups.map { "\(facts.id).\(facts.chunk).\($0)" }
            let last = open.last
            var part = 0
            while !open.isEmpty {
                let found = try await self.read(open.map { "\($0).\(part)" }, &facts)
                if part == 0, last.flatMap({ found["\($0).0"] }) == nil { group = Self.mostGroups }
                open = open.filter { (found["\($0).\(part)"]?.tokenCount ?? 0) >= Self.leastOfFullPart }
                part += 1
            }
            group += Self.groups
        }
    }

    /// Looks these messages up; what is found, by id.
    private func read(
        _ ids: [String],
        _ facts: inout MessageFacts
    ) async throws(SNSError) -> [String: MessageStory] {
        let findings = try await self.find(ids.map { .message(Array($0.utf8)) })
        var found: [String: MessageStory] = [:]
        for (id, finding) in zip(ids, findings) {
            facts.coverage = finding.coverage
            facts.unreadable = max(facts.unreadable, finding.unreadable)
            guard let story = finding.stories.first else { continue }
            facts.stories.append(story)
            found[id] = story
        }
        return found
    }

    /// All at once; answers in the order of the questions.
    private func find(_ questions: [TrailSearch.Question]) async throws(SNSError) -> [TrailSearch.Findings] {
        let result: Result<[TrailSearch.Findings], RedisFailure> = await self.run.service.desk.ask { core, completion in
            var answers: [Int: TrailSearch.Findings] = [:]
            var failure: RedisFailure?
            var left = questions.count
            guard left > 0 else { return completion(.success([])) }
            for (index, question) in questions.enumerated() {
                core.redis.find(question) { result in
                    switch result {
                    case .success(let findings): answers[index] = findings
                    case .failure(let error): failure = failure ?? error
                    }
                    left -= 1
                    guard left == 0 else { return }
                    if let failure { return completion(.failure(failure)) }
                    completion(.success(questions.indices.compactMap { answers[$0] }))
                }
            }
        }
        return try self.found(result)
    }

    private func found<Outcome>(_ result: Result<Outcome, RedisFailure>) throws(SNSError) -> Outcome {
        do throws(RedisFailure) {
            return try result.get()
        } catch {
            throw self.run.service.report(error)
        }
    }

    static func json(_ report: MessageReport) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(report) else { preconditionFailure("text and numbers are always JSON") }
        return Array(data)
    }
}
