/// Recognises a message that was published more than once on purpose: by a publisher that could not know whether the
/// first time had been enough. Each time has a mark of its own; the one that a worker sees first counts.
package enum OnceClaim {
    private static let claim = Script(
        """
        local first = redis.call('GET', KEYS[1])
        if not first then
            redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
            return 1
        end
        return first == ARGV[1] and 2 or 0
        """
    )

    /// Answers 0 if the message came before under another mark, 1 the first time that it came, and 2 if it came before
    /// under this mark. Without an answer nobody knows.
    /// - Parameters:
    ///   - mark: what `x-pushfleet-once` says.
    ///   - tokenCount: one means one of very many messages: it is remembered for an hour only, others for a day.
    package static func call(message: String, mark: String, tokenCount: Int) -> ScriptCall {
        self.call(Keys.first(message: message), mark, life: .seconds(tokenCount == 1 ? 3600 : 24 * 3600))
    }

    /// The same for a dead letter that is published again. The letter counts, not the message: that may have died in several
    /// letters with different tokens. Remembered for a day: whoever replays goes on when the first try was cut off.
    package static func call(letter: String, mark: String) -> ScriptCall {
        self.call(Keys.first(letter: letter), mark, life: .seconds(24 * 3600))
    }

    private static func call(_ key: String, _ mark: String, life: Duration) -> ScriptCall {
        var call = ScriptCall(self.claim, keys: [key])
        call.add(mark)
        call.add(milliseconds: life)
        return call
    }
}
