package import Broker
internal import Loop
internal import Push

/// What operators do about dead letters: look, and take what they have chosen.
///
/// Each call has a connection and a thread of its own, reads the queue from its head, and gives back what it does not act
/// on. Two at a time hide letters from each other; see ``DeadLetterLook/isComplete``.
package struct DeadLetterDesk: Sendable {
    let broker: BrokerSettings
    let timeout: Duration
    /// After which a job lets go of all letters and takes them anew.
    var roundTime = Duration.seconds(600)

    /// - Parameter timeout: for connecting, and for how long RabbitMQ may be silent.
    package init(_ broker: BrokerSettings, timeout: Duration = .seconds(10)) {
        self.broker = broker
        self.timeout = timeout
    }

    /// All letters that fit.
    /// - Parameter keepsBodies: bodies may be 256 KiB each; lists do without.
    package func look(
        _ filter: DeadLetterFilter = .all,
        keepsBodies: Bool = false
    ) async throws(DeadLetterFailure) -> DeadLetterLook {
        try await self.walk { loop, broker, timeout, answer in
            var letters: [DeadLetter] = []
            return DeadLetterWalk(broker, timeout: timeout, on: loop) { walk, delivery, place in
                let letter = DeadLetter(delivery)
                if filter.matches(letter) { letters.append(keepsBodies ? letter : letter.summary()) }
                walk.hold(place)
            } finished: { result in
                answer(result.map { DeadLetterLook(letters, $0) })
            }
        }
    }

    /// Gives the letters that fit to `visit` in the queue's order, with their bodies, and keeps none.
    /// - Parameter visit: called on a thread of this call's.
    /// - Returns: how far it came, without letters.
    package func read(
        _ filter: DeadLetterFilter = .all,
        _ visit: @escaping @Sendable (DeadLetter) -> Void
    ) async throws(DeadLetterFailure) -> DeadLetterLook {
        try await self.walk { loop, broker, timeout, answer in
            DeadLetterWalk(broker, timeout: timeout, on: loop) { walk, delivery, place in
                let letter = DeadLetter(delivery)
                if filter.matches(letter) { visit(letter) }
                walk.hold(place)
            } finished: { result in
                answer(result.map { DeadLetterLook([], $0) })
            }
        }
    }

    /// The first letter of this id, whole; nil if it is not in the queue, or somebody holds it.
    package func letter(_ id: DeadLetterID) async throws(DeadLetterFailure) -> DeadLetter? {
        try await self.walk { loop, broker, timeout, answer in
            var found: DeadLetter?
            return DeadLetterWalk(broker, timeout: timeout, on: loop) { walk, delivery, place in
                let letter = DeadLetter(delivery)
                if letter.id == id {
                    found = letter
                    walk.stop()
                }
                walk.hold(place)
            } finished: { result in
                answer(result.map { _ in found })
            }
        }
    }

    typealias Answer<Value> = @Sendable (Result<Value, DeadLetterFailure>) -> Void

    /// Runs one walk to its end.
    func walk<Value: Sendable>(
        _ begin: @escaping @Sendable (EventLoop, BrokerSettings, Duration, @escaping Answer<Value>) -> DeadLetterWalk
    ) async throws(DeadLetterFailure) -> Value {
        let bench: Bench
        do throws(LoopError) {
            bench = try Bench(name: "dead-letters")
        } catch {
            throw DeadLetterFailure(error)
        }
        defer { bench.stop() }
        let (broker, timeout) = (self.broker, self.timeout)
        let result: Result<Value, DeadLetterFailure> = await bench.ask { loop, answer in
            _ = begin(loop, broker, timeout, answer)
        }
        return try result.get()
    }
}
