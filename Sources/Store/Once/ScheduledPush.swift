internal import Push

/// A push that was published ahead of its time and may be taken back until then, however many messages it is.
///
/// The publisher says when it is due; the first worker that finds one of its messages due says that it has begun, and
/// from then on it cannot be cancelled. The key holds `planned`, `begun` or `cancelled`.
package enum ScheduledPush {
    /// What became of the wish to cancel.
    package enum Cancelling: Equatable, Sendable {
        /// None of it is sent. Also the answer to who asks again.
        case cancelled
        /// It was due: sent, or on its way.
        case begun
        /// Nothing of this name is known any more.
        case unknown
    }

    /// How long it is remembered after its time. Messages that wait longer are too old to be sent, as a rule.
    private static let life = Duration.seconds(24 * 3600)

    private static let plan = Script("return redis.call('SET', KEYS[1], 'planned', 'PX', ARGV[1], 'NX') and 1 or 0")

    private static let begin = Script(
        """
        local state = redis.call('GET', KEYS[1])
        if state == 'cancelled' then return 0 end
        if state ~= 'begun' then redis.call('SET', KEYS[1], 'begun', 'PX', ARGV[1]) end
        return 1
        """
    )

    private static let cancel = Script(
        """
        local state = redis.call('GET', KEYS[1])
        if state == 'planned' then
            redis.call('SET', KEYS[1], 'cancelled', 'PX', redis.call('PTTL', KEYS[1]))
            return 'cancelled'
        end
        return state or 'unknown'
        """
    )

    /// Makes it one that can be cancelled. Once it is known it stays as it is.
    /// - Parameter wait: until it is due.
    package static func plan(_ name: String, dueIn wait: Duration) -> ScriptCall {
        var call = ScriptCall(self.plan, keys: [Keys.scheduled(name)])
        call.add(milliseconds: max(.zero, wait) + self.life)
        return call
    }

    /// One of its messages is due. Answers 0 if it was cancelled. Without an answer nobody knows.
    /// - Parameter name: what `x-pushfleet-schedule` says.
    package static func begin(_ name: String) -> ScriptCall {
        var call = ScriptCall(self.begin, keys: [Keys.scheduled(name)])
        call.add(milliseconds: self.life)
        return call
    }

    /// Takes it back, if it has not begun; ``cancelling(_:)`` reads the answer.
    package static func cancel(_ name: String) -> ScriptCall {
        ScriptCall(self.cancel, keys: [Keys.scheduled(name)])
    }

    package static func cancelling(_ reply: RedisReply) -> Cancelling {
        switch reply.text {
        case "cancelled": .cancelled
        case "begun": .begun
        default: .unknown
        }
    }
}
