/// Looks up what happened to messages and tokens. Needs no worker.
package struct TrailReader: Sendable {
    private let session: RedisSession

    package init(_ session: RedisSession) {
        self.session = session
    }

    package func find(_ question: TrailSearch.Question) async throws(RedisFailure) -> TrailSearch.Findings {
        var search = TrailSearch(question)
        var replies = [try await self.session.send(search.first)]
        while true {
            switch search.next(replies) {
            case .done(let findings): return findings
            case .ask(let commands): replies = try await self.session.send(commands)
            }
        }
    }
}

extension RedisClient {
    /// Looks up in the trail from this client's loop. `completion` is called later, exactly once.
    package func find(
        _ question: TrailSearch.Question,
        _ completion: @escaping (Result<TrailSearch.Findings, RedisFailure>) -> Void
    ) {
        let search = TrailSearch(question)
        self.send([search.first]) { [weak self] in self?.goOn(search, $0, completion) }
    }

    private func goOn(
        _ search: TrailSearch,
        _ replies: Result<[RedisReply], RedisFailure>,
        _ completion: @escaping (Result<TrailSearch.Findings, RedisFailure>) -> Void
    ) {
        var search = search
        switch replies.map({ search.next($0) }) {
        case .failure(let failure): completion(.failure(failure))
        case .success(.done(let findings)): completion(.success(findings))
        case .success(.ask(let commands)):
            self.send(commands) { [weak self] in self?.goOn(search, $0, completion) }
        }
    }

    /// Sends commands at once; all replies in their order, or the first failure.
    func send(_ commands: [RedisCommand], _ completion: @escaping (Result<[RedisReply], RedisFailure>) -> Void) {
        let batch = Batch(commands.count, completion)
        for index in commands.indices { self.send(commands[index]) { batch.answered(index, $0) } }
    }

    private final class Batch {
        private var replies: [RedisReply]
        private var left: Int
        private var failure: RedisFailure?
        private let completion: (Result<[RedisReply], RedisFailure>) -> Void

        init(_ count: Int, _ completion: @escaping (Result<[RedisReply], RedisFailure>) -> Void) {
            self.replies = Array(repeating: .null, count: count)
            self.left = count
            self.completion = completion
        }

        func answered(_ index: Int, _ result: Result<RedisReply, RedisFailure>) {
            switch result {
            case .success(let reply): self.replies[index] = reply
            // Somebody else wrote there, and it is no list: the rest can still be told.
            case .failure(.refused(let error)) where error.text.hasPrefix("WRONGTYPE"): break
            case .failure(let failure): self.failure = self.failure ?? failure
            }
            self.left -= 1
            guard self.left == 0 else { return }
            self.completion(self.failure.map { .failure($0) } ?? .success(self.replies))
        }
    }
}
