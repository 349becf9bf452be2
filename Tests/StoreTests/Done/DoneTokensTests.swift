import Push
import TestServers
import Testing

@testable import Store

@Suite struct DoneTokensTests {
    @Test func `What is marked is read again, and it does not live for ever`() async throws {
        try await Self.with { session, message in
            #expect(
                try await Self.take(1000, of: message, session) == DoneTokens.Memory(.success(.null), tokenCount: 1000)
            )
            for tokens in [[0, 7, 8, 999], [1], [999], []] { try await Self.mark(tokens, of: message, session) }
            let memory = try await Self.take(1000, of: message, session)
            #expect(memory.done.tokens == [0, 1, 7, 8, 999] && !memory.isUntried)
            #expect(try await Self.take(1000, of: message, copy: "1", session).done.count == 0)
            let life = try await session.send(RedisCommand("PTTL", Keys.done(message: message, copy: "0"))).integer
            #expect(try #require(life) > 90_000)
        }
    }

    @Test(arguments: [1, 7, 8, 9, 64, 1000])
    func `That a message is untried is told once, to whoever asks first, and no token is taken for done`(
        count: Int
    ) async throws {
        try await Self.with { session, message in
            for done in [[], [count - 1]] {
                try await Self.mark([count], of: message, session)
                try await Self.mark(done, of: message, session)
                let first = try await Self.take(count, of: message, session)
                #expect(first.isUntried && first.done.tokens == done)
                let second = try await Self.take(count, of: message, session)
                #expect(!second.isUntried && second.done.tokens == done)
            }
        }
    }

    @Test func `Without an answer nothing is known`() {
        for failure in [RedisFailure.unavailable("away"), .unknown("away")] {
            let memory = DoneTokens.Memory(.failure(failure), tokenCount: 3)
            #expect(memory.done.count == 0 && !memory.isUntried)
        }
    }

    private static func with(_ body: (RedisSession, String) async throws -> Void) async throws {
        let session = try await RedisSession.open(RedisAddress(PrivateRedis.shared))
        defer { session.close() }
        try await body(session, InstanceID().description)
    }

    private static func mark(_ tokens: [Int], of message: String, _ session: RedisSession) async throws {
        _ = try await session.run(DoneTokens.mark(message: message, copy: "0", tokens: tokens, life: .seconds(100)))
    }

    private static func take(
        _ count: Int,
        of message: String,
        copy: String = "0",
        _ session: RedisSession
    ) async throws -> DoneTokens.Memory {
        let reply = try await session.run(DoneTokens.take(message: message, copy: copy, tokenCount: count))
        return DoneTokens.Memory(.success(reply), tokenCount: count)
    }
}
