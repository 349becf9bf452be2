import TestServers
import Testing

@testable import Store

@Suite struct DoneTokensTests {
    @Test func `What is marked is read again, and it does not live for ever`() async throws {
        let session = try await RedisSession.open(RedisAddress(PrivateRedis.shared))
        defer { session.close() }
        let message = InstanceID().description
        #expect(DoneBits(try await session.send(DoneTokens.read(message: message, copy: "0"))).isEmpty)
        for tokens in [[0, 7, 8, 999], [1], [999], []] {
            _ = try await session.run(
                DoneTokens.mark(message: message, copy: "0", tokens: tokens, life: .seconds(100))
            )
        }
        let bits = DoneBits(try await session.send(DoneTokens.read(message: message, copy: "0")))
        #expect((-1..<2_000).filter(bits.contains) == [0, 1, 7, 8, 999])
        #expect(DoneBits(try await session.send(DoneTokens.read(message: message, copy: "1"))).isEmpty)
        let life = try await session.send(RedisCommand("PTTL", Keys.done(message: message, copy: "0"))).integer
        #expect(try #require(life) > 90_000)
    }
}
