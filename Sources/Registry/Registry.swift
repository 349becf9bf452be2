package import Store

/// Platform applications, endpoints, topics and subscriptions, as they stand in Redis.
///
/// It belongs to the loop of its client. Every operation is one script, so that each is whole or not at all, and any
/// number of processes may work on the same registry. Every completion is called later, exactly once, never from within
/// the call. Operations that change something may be repeated after ``RedisFailure/unknown(_:)``.
package final class Registry {
    package struct Settings: Sendable {
        /// Whether an endpoint that is deleted takes its subscriptions along at once. Default no: as with Amazon they stay
        /// listed, and ``Registry/sweep(olderThan:limit:_:)`` ends them.
        package var cascades = false

        package init() {}
    }

    /// The answer, or why there is none.
    package typealias Completion<Outcome> = (Result<Outcome, RedisFailure>) -> Void

    private let client: RedisClient
    let settings: Settings

    package init(_ client: RedisClient, settings: Settings = Settings()) {
        self.client = client
        self.settings = settings
    }

    func send(_ command: RedisCommand, _ completion: @escaping Completion<Void>) {
        self.client.send(command) { result in completion(result.map { _ in }) }
    }

    /// - Parameter read: the outcome of an answer; nil if it makes no sense.
    func run<Outcome>(
        _ call: ScriptCall,
        _ completion: @escaping Completion<Outcome>,
        _ read: @escaping (inout ReplyCursor) -> Outcome?
    ) {
        self.client.run(call) { result in
            completion(
                result.flatMap { reply in
                    var cursor = ReplyCursor(reply)
                    guard let outcome = read(&cursor) else {
                        return .failure(.unknown("a script of the registry answered what it never should"))
                    }
                    return .success(outcome)
                }
            )
        }
    }
}

/// One page of a list in the order of its keys.
package struct Page<Item: Sendable, Key: Sendable>: Sendable {
    package var items: [Item]
    /// What to go on after; nil at the end. There may be a next page though this one is short or empty.
    package var next: Key?

    package init(items: [Item], next: Key?) {
        self.items = items
        self.next = next
    }
}

extension Page: Equatable where Item: Equatable, Key: Equatable {}

/// What became of something that was to change.
package enum Change: Hashable, Sendable {
    case changed
    /// It was like that already; nothing was written.
    case unchanged
    /// There is no such thing.
    case missing
}

/// What became of something that was to go. Both are success to Amazon.
package enum Removal: Hashable, Sendable {
    case removed
    case absent
}
