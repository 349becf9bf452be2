internal import Push
internal import Store

/// How far an order has come, in Redis: which gateway works on it, and the next chunk.
///
/// A gateway that takes an order over makes itself its owner; from then on every step of a former owner is refused. The
/// cursor moves on only behind a chunk that the broker has confirmed. Chunks have numbers, and messages ids made of them,
/// so a chunk that is published again, because its confirm or the step behind it was lost, is the same chunk.
///
/// | key | type | what | lives |
/// |---|---|---|---|
/// | `pf:fanout:{<message id>}:order` | hash | `owner`, `chunk`, `cursor`, `done` | a day after the last step |
/// | `pf:fanout:{<message id>}:tokens` | hash | app and token that may be there twice: the chunk that it is sent in | the same |
struct FanOutProgress: Equatable {
    /// The number of the next chunk.
    var chunk: Int
    /// The subscription that the next chunk begins behind: 16 bytes, or none.
    var cursor: [UInt8]
    var isDone: Bool

    private static let life = Duration.seconds(24 * 3600)

    static func orderKey(_ id: String) -> String { "pf:fanout:{\(id)}:order" }
    static func tokensKey(_ id: String) -> String { "pf:fanout:{\(id)}:tokens" }

    private static let claim = Script(
        """
        redis.call('HSET', KEYS[1], 'owner', ARGV[1])
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        local found = redis.call('HMGET', KEYS[1], 'chunk', 'cursor', 'done')
        return { found[1] or '0', found[2] or '', found[3] or '0' }
        """
    )

    private static let advance = Script(
        """
        if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
        redis.call('HSET', KEYS[1], 'chunk', ARGV[3], 'cursor', ARGV[4], 'done', ARGV[5])
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        if ARGV[5] == '1' then redis.call('DEL', KEYS[2]) end
        return 1
        """
    )

    private static let take = Script(
        """
        if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
        local mine = {}
        for i = 4, #ARGV do
            redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[3])
            mine[#mine + 1] = redis.call('HGET', KEYS[2], ARGV[i]) == ARGV[3] and 1 or 0
        end
        redis.call('PEXPIRE', KEYS[2], ARGV[2])
        return mine
        """
    )

    /// Makes this gateway the order's owner.
    static func claim(_ id: String, owner: String) -> ScriptCall {
        var call = ScriptCall(self.claim, keys: [self.orderKey(id)])
        call.add(owner)
        call.add(milliseconds: self.life)
        return call
    }

    /// Before the first chunk.
    static let start = FanOutProgress(chunk: 0, cursor: [], isDone: false)

    private init(chunk: Int, cursor: [UInt8], isDone: Bool) {
        self.chunk = chunk
        self.cursor = cursor
        self.isDone = isDone
    }

    init?(_ reply: RedisReply) {
        guard let parts = reply.elements, parts.count == 3, let chunk = parts[0].integer,
            case .string(let cursor) = parts[1], let done = parts[2].integer
        else { return nil }
        self.chunk = Int(chunk)
        self.cursor = cursor
        self.isDone = done == 1
    }

    /// Says that a chunk is confirmed. Answers 0 to who is not the owner any more.
    func advance(_ id: String, owner: String) -> ScriptCall {
        var call = ScriptCall(Self.advance, keys: [Self.orderKey(id), Self.tokensKey(id)])
        call.add(owner)
        call.add(milliseconds: Self.life)
        call.add(self.chunk)
        call.add(self.cursor)
        call.add(self.isDone ? 1 : 0)
        return call
    }

    /// Asks of tokens that may be there twice which are this chunk's. Answers 0 to who is not the owner any more, else 1
    /// or 0 for each.
    /// - Parameter tokens: each with its app.
    func take(_ tokens: [String], _ id: String, owner: String) -> ScriptCall {
        var call = ScriptCall(Self.take, keys: [Self.orderKey(id), Self.tokensKey(id)])
        call.add(owner)
        call.add(milliseconds: Self.life)
        call.add(self.chunk)
        for token in tokens { call.add(token) }
        return call
    }
}
