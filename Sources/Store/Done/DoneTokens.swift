internal import Push

/// Remembers which tokens of a message are settled, so that a redelivered message is sent to the others only.
///
/// Read only when the broker redelivers. Writing a bit twice does nothing, and a lost write means a duplicate push, never
/// a lost one.
package enum DoneTokens {
    private static let mark = Script(
        """
        for i = 2, #ARGV do redis.call('SETBIT', KEYS[1], ARGV[i], 1) end
        redis.call('PEXPIRE', KEYS[1], ARGV[1])
        return #ARGV - 1
        """
    )

    /// Marks tokens as settled.
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

    /// Reads what is settled; the reply goes to `DoneBits`.
    package static func read(message: String, copy: String) -> RedisCommand {
        RedisCommand("GET", Keys.done(message: message, copy: copy))
    }
}

/// The settled tokens of one message.
package struct DoneBits: Hashable, Sendable {
    private let bytes: [UInt8]

    /// From the reply to ``DoneTokens/read(message:copy:)``; anything but a bitmap means that nothing is settled.
    package init(_ reply: RedisReply) {
        guard case .string(let bytes) = reply else {
            self.bytes = []
            return
        }
        self.bytes = bytes
    }

    /// Whether the token at this position is settled.
    package func contains(_ token: Int) -> Bool {
        // Redis numbers bits from the most significant one of the first byte.
        token >= 0 && token / 8 < self.bytes.count && self.bytes[token / 8] & (0x80 >> UInt8(token % 8)) != 0
    }

    package var isEmpty: Bool { self.bytes.allSatisfy { $0 == 0 } }
}
