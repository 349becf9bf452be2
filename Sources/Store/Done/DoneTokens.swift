package import Push

/// Remembers which tokens of a message are settled, so that a redelivered message is sent to the others only.
///
/// Asked only when the broker redelivers. Writing a bit twice does nothing, and a lost write means a duplicate push, never
/// a lost one.
package enum DoneTokens {
    private static let mark = Script(
        """
        for i = 2, #ARGV do redis.call('SETBIT', KEYS[1], ARGV[i], 1) end
        redis.call('PEXPIRE', KEYS[1], ARGV[1])
        return #ARGV - 1
        """
    )

    private static let take = Script(
        """
        local bits = redis.call('GET', KEYS[1])
        if bits then redis.call('SETBIT', KEYS[1], ARGV[1], 0) end
        return bits
        """
    )

    /// Marks tokens as settled. The position after the last token marks the message as untried: what of it may have been
    /// sent before has been counted, and nothing since.
    /// - Parameters:
    ///   - message: the message's identifier.
    ///   - copy: tells apart copies of the message that carry different tokens.
    ///   - tokens: positions in this copy's list, 0 to 9,999.
    ///   - life: how long it may still be redelivered: the app's age limit.
    package static func mark(
        message: String,
        copy: String,
        tokens: some Sequence<Int>,
        life: Duration
    ) -> ScriptCall {
        var call = ScriptCall(self.mark, keys: [Keys.done(message: message, copy: copy)])
        call.add(milliseconds: max(life, .seconds(1)))
        for token in tokens {
            precondition((0..<10_000).contains(token), "a token's position is out of bounds")
            call.add(token)
        }
        return call
    }

    /// Reads what is settled, and takes away the mark that says that the rest is untried: whoever asks is about to try.
    package static func take(message: String, copy: String, tokenCount: Int) -> ScriptCall {
        var call = ScriptCall(self.take, keys: [Keys.done(message: message, copy: copy)])
        call.add(tokenCount)
        return call
    }

    /// What Redis knows of a message.
    package struct Memory: Equatable, Sendable {
        /// Tokens that are settled.
        package let done: TokenBits
        /// Whether whoever had the message before gave it back untried: none of the other tokens is in doubt.
        package let isUntried: Bool

        /// From the reply to ``take(message:copy:tokenCount:)``. Without an answer, or with another one than a bitmap,
        /// nothing is known.
        package init(_ reply: Result<RedisReply, RedisFailure>, tokenCount: Int) {
            var bytes: [UInt8] = []
            if case .success(.string(let bitmap)) = reply { bytes = bitmap }
            self.done = TokenBits(capacity: tokenCount, redisBitmap: bytes)
            // Redis numbers bits from the most significant one of the first byte.
            let (index, bit) = (tokenCount / 8, UInt8(0x80) >> UInt8(tokenCount % 8))
            self.isUntried = index < bytes.count && bytes[index] & bit != 0
        }
    }
}
