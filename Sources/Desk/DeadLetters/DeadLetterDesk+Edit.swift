internal import Broker
internal import Loop
package import Push

/// One letter that is mended and sent.
extension DeadLetterDesk {
    /// What became of an edit.
    package enum Edit: Equatable, Sendable {
        /// RabbitMQ has the new message, and the letter is gone.
        case replayed
        /// A worker would not take it; nothing was published, and the letter is as it was.
        case refused(Refusal)
        /// There is no such letter, or another reader holds it.
        case missing
        /// RabbitMQ did not confirm, for this reason; the letter is as it was.
        case failed(String)
    }

    /// Publishes one letter with another body or to another queue, and takes it off the dead-letter queue.
    /// - Parameters:
    ///   - body: nil as it was.
    ///   - app: of the routing key; nil as it was.
    ///   - lane: nil as it was.
    package func edit(
        _ id: DeadLetterID,
        body: [UInt8]?,
        app: String? = nil,
        lane: Lane? = nil,
        rules: ReplayRules
    ) async throws(DeadLetterFailure) -> Edit {
        let mark = String(UInt64.random(in: .min ... .max), radix: 36)
        return try await self.walk { loop, broker, timeout, answer in
            var outcome = Edit.missing
            return DeadLetterWalk(broker, timeout: timeout, on: loop) { walk, delivery, place in
                let letter = DeadLetter(delivery)
                guard letter.id == id, outcome == .missing else { return walk.hold(place) }
                let now = WallClock.now()
                let key = Self.routingKey(of: letter, app: app, lane: lane)
                let message = ReplayMessage.make(letter, routingKey: key, body: body, mark: mark, now: now)
                if let problem = rules.problem(routingKey: key, body: message.body, now: now) {
                    outcome = .refused(problem)
                    walk.hold(place)
                    return walk.stop()
                }
                outcome = .failed("not sent")
                let isTaken = walk.publish(message) { result in
                    if let trouble = result.trouble(with: key) {
                        outcome = .failed(trouble)
                        walk.hold(place)
                    } else {
                        outcome = .replayed
                        walk.remove(place)
                    }
                }
                if !isTaken { walk.hold(place) }
                walk.stop()
            } finished: { result in
                answer(result.map { _ in outcome })
            }
        }
    }

    /// Where an edited letter goes.
    package static func routingKey(of letter: DeadLetter, app: String?, lane: Lane?) -> String {
        guard app != nil || lane != nil else { return letter.routingKey }
        return "\(app ?? letter.app ?? "").\((lane ?? letter.lane)?.rawValue ?? "")"
    }
}
