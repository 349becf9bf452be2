internal import Push
internal import Synchronization

/// How many calls each access key may make at all gateways together. The bucket is in Redis; a gateway takes a block of
/// permits out of it and uses it up, so that calls cost a trip now and then.
final class CallRate: Sendable {
    /// Whether a call may go on.
    enum Verdict: Equatable {
        case go
        case refused
        /// So many permits are to be taken out of the bucket first, and told by ``CallRate/took(_:of:at:)``.
        case ask(Int, RateLimit)
    }

    private struct Permits {
        var count = 0
        /// What is not used by then was spent for nothing: other gateways may need it.
        var until = MonotonicTime(nanoseconds: .min)
        /// The bucket was empty; it is not asked before.
        var emptyUntil = MonotonicTime(nanoseconds: .min)
        var isAsking = false
    }

    private struct State {
        var limits: [String: RateLimit] = [:]
        var permits: [String: Permits] = [:]
    }

    private let state: Mutex<State>

    /// How many blocks make a second's calls.
    private static let blocks = 10

    init(_ keys: [AccessKeySettings]) {
        self.state = Mutex(State(limits: Self.limits(keys)))
    }

    /// Other limits from now on.
    func use(_ keys: [AccessKeySettings]) {
        let limits = Self.limits(keys)
        self.state.withLock { $0.limits = limits }
    }

    private static func limits(_ keys: [AccessKeySettings]) -> [String: RateLimit] {
        Dictionary(
            keys.compactMap { key in key.rate.map { (key.id, $0) } },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Whether a call of this key may go on.
    func takes(_ key: String, at now: MonotonicTime) -> Verdict {
        self.state.withLock { state in
            guard let limit = state.limits[key] else { return .go }
            var permits = state.permits[key] ?? Permits()
            defer { state.permits[key] = permits }
            if permits.count > 0, now < permits.until {
                permits.count -= 1
                return .go
            }
            permits.count = 0
            guard now >= permits.emptyUntil else { return .refused }
            // Who comes while somebody asks for a block asks for itself only.
            let count = permits.isAsking ? 1 : max(1, min(limit.rate / Self.blocks, limit.bucketSize))
            permits.isAsking = true
            return .ask(count, limit)
        }
    }

    /// The bucket's answer to a call that had to ask.
    /// - Parameter count: nil if there was no answer: then the call goes on, and fails elsewhere if Redis is away.
    /// - Returns: whether the call may go on.
    func took(_ count: Int?, of key: String, at now: MonotonicTime) -> Bool {
        self.state.withLock { state in
            guard let limit = state.limits[key] else { return true }
            var permits = state.permits[key] ?? Permits()
            defer { state.permits[key] = permits }
            permits.isAsking = false
            guard let count else { return true }
            guard count > 0 else {
                permits.emptyUntil = now + .microseconds(min(100_000, 1_000_000 / Int64(limit.rate)))
                return false
            }
            permits.count += count - 1
            permits.until = now + .seconds(1)
            return true
        }
    }
}
