import TestServers
import Testing

@testable import Store

@Suite struct OnceTests {
    @Test(arguments: [(1, 3600), (2, 24 * 3600)])
    func `The first mark that is seen counts, and is remembered longer for many tokens`(
        count: Int,
        seconds: Int
    ) async throws {
        try await Self.with { session, name in
            for (mark, answer) in [("a", 1), ("b", 0), ("a", 2), ("b", 0)] {
                let call = OnceClaim.call(message: name, mark: mark, tokenCount: count)
                #expect(try await session.run(call).integer == Int64(answer))
            }
            let life = try #require(try await session.send(RedisCommand("TTL", Keys.first(message: name))).integer)
            #expect((Int64(seconds) - 60...Int64(seconds)).contains(life))
        }
    }

    @Test func `Replays are told apart by dead letter, not by message, and remembered for a day`() async throws {
        try await Self.with { session, name in
            #expect(try await session.run(OnceClaim.call(letter: name, mark: "a")).integer == 1)
            #expect(try await session.run(OnceClaim.call(letter: name, mark: "b")).integer == 0)
            #expect(try await session.run(OnceClaim.call(message: name, mark: "b", tokenCount: 1)).integer == 1)
            let life = try #require(try await session.send(RedisCommand("TTL", Keys.first(letter: name))).integer)
            #expect((24 * 3600 - 60...24 * 3600).contains(life))
        }
    }

    @Test func `What is planned can be cancelled, once and for all`() async throws {
        try await Self.with { session, name in
            _ = try await session.run(ScheduledPush.plan(name, dueIn: .seconds(1000)))
            #expect(try await Self.cancel(name, session) == .cancelled)
            // A publish that is tried again plans again.
            _ = try await session.run(ScheduledPush.plan(name, dueIn: .seconds(10)))
            #expect(try await Self.cancel(name, session) == .cancelled)
            #expect(try await session.run(ScheduledPush.begin(name)).integer == 0)
            let life = try await session.send(RedisCommand("TTL", Keys.scheduled(name))).integer
            #expect(try #require(life) > 24 * 3600 + 900)
        }
    }

    @Test func `What has begun cannot be cancelled, and of what is not known nothing is said`() async throws {
        try await Self.with { session, name in
            #expect(try await Self.cancel(name, session) == .unknown)
            _ = try await session.run(ScheduledPush.plan(name, dueIn: .seconds(1)))
            // Each of its messages asks.
            for _ in 0..<3 { #expect(try await session.run(ScheduledPush.begin(name)).integer == 1) }
            #expect(try await Self.cancel(name, session) == .begun)
            #expect(try await session.run(ScheduledPush.begin(name)).integer == 1)
            #expect(try await session.run(ScheduledPush.begin("\(name).lost")).integer == 1)
        }
    }

    private static func cancel(_ name: String, _ session: RedisSession) async throws -> ScheduledPush.Cancelling {
        ScheduledPush.cancelling(try await session.run(ScheduledPush.cancel(name)))
    }

    private static func with(_ body: (RedisSession, String) async throws -> Void) async throws {
        let session = try await RedisSession.open(RedisAddress(PrivateRedis.shared))
        defer { session.close() }
        try await body(session, InstanceID().description)
    }
}
