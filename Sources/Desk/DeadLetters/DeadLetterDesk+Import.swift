internal import Broker

/// Letters that come back from a file.
extension DeadLetterDesk {
    /// What became of an import.
    package struct Import: Equatable, Sendable {
        /// Letters that RabbitMQ confirmed.
        package var added = 0
        /// Letters that were in the queue already, or twice in the file.
        package var present = 0
        /// Letters that RabbitMQ did not confirm; they may be there or not, and importing again settles it.
        package var failed = 0
        /// What RabbitMQ said of the first of them.
        package var trouble: String?
    }

    /// Puts letters into the dead-letter queue that are not there, so that a second import of the same adds nothing.
    package func add(_ letters: [DeadLetter]) async throws(DeadLetterFailure) -> Import {
        var known = Set(try await self.look().letters.map(\.id))
        let new = letters.filter { known.insert($0.id).inserted }
        var result = Import(present: letters.count - new.count)
        guard !new.isEmpty else { return result }
        let session: BrokerSession
        do {
            session = try await BrokerSession.connect(self.broker, timeout: self.timeout)
        } catch {
            throw .unreachable(error as? BrokerError ?? .closed)
        }
        var rest = new[...]
        while !rest.isEmpty {
            let batch = rest.prefix(1000)
            rest = rest.dropFirst(1000)
            do throws(BrokerError) {
                for (letter, outcome) in zip(batch, try await session.publish(batch.map { $0.copy() })) {
                    guard let trouble = outcome.trouble(with: letter.routingKey) else {
                        result.added += 1
                        continue
                    }
                    result.failed += 1
                    if result.trouble == nil { result.trouble = trouble }
                }
            } catch {
                result.failed += batch.count + rest.count
                if result.trouble == nil { result.trouble = error.description }
                rest = []
            }
        }
        await session.close()
        return result
    }
}
