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
        return first == ARGV[1] and 1 or 0
        """
    )

    /// Answers 0 if the message came before under another mark. Without an answer nobody knows.
    /// - Parameters:
    ///   - mark: what `x-pushfleet-once` says.
    ///   - tokenCount: one means one of very many messages: it is remembered for an hour only, others for a day.
    package static func call(message: String, mark: String, tokenCount: Int) -> ScriptCall {
        var call = ScriptCall(self.claim, keys: [Keys.first(message: message)])
        call.add(mark)
        call.add(milliseconds: .seconds(tokenCount == 1 ? 3600 : 24 * 3600))
        return call
    }
}
