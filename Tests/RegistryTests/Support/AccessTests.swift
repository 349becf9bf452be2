import Foundation
import TestServers
import Testing

@testable import Registry
@testable import Store

/// The gateway's user of `deploy/redis/users.acl.example` may do what the registry does.
@Suite struct AccessTests {
    @Test func `Everything works under the gateway's user, and other keys are out of its reach`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let file = "\(Repository.root)/deploy/redis/users.acl.example"
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("user gateway ") })
        let words = line.split(separator: " ").map(String.init)
        let root = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(redis.port)))
        defer { root.close() }
        var command = RedisCommand("ACL", "SETUSER")
        for word in words.dropFirst() { command.add(word) }
        _ = try await root.send(command)
        var address = RedisAddress(host: "127.0.0.1", port: UInt16(redis.port))
        address.user = "gateway"
        address.password = words.first { $0.hasPrefix(">") }.map { String($0.dropFirst()) }

        let registry = try await TestRegistry(address)
        let fleet = FleetApp(id: "sns.shop", settings: "{}", credential: SealedCredential(text: "x"))
        _ = try await registry.ask { $0.createApplication(.shop, attributes: ["a": "b"], fleet: fleet, $1) }
        _ = try await registry.ask { $0.applications($1) }
        let id = try await registry.added("aa01", to: .shop, userData: "u")
        let name = EndpointName(application: .shop, id: id)
        let change = EndpointChange(token: EndpointToken("aa02"), isEnabled: false, userData: "v")
        #expect(try await registry.set(id, of: .shop, change) == .changed)
        _ = try await registry.ask { $0.endpoints(of: .shop, $1) }
        _ = try await registry.ask { $0.endpoints(withUserData: "v", $1) }
        _ = try await registry.ask { $0.createTopic("t", attributes: ["a": "b"], tags: ["c": "d"], $1) }
        _ = try await registry.ask { $0.tag(topic: "t", ["e": "f"], $1) }
        _ = try await registry.ask { $0.untag(topic: "t", ["e"], $1) }
        _ = try await registry.ask { $0.topic("t", $1) }
        _ = try await registry.ask { $0.subscribe(.endpoint(name), to: "t", attributes: ["FilterPolicy": "{}"], $1) }
        _ = try await registry.ask { $0.subscriptions($1) }
        _ = try await registry.ask { $0.recipients(of: "t", limit: 10, $1) }
        let pending = try await registry.ask {
            $0.subscribePending("http", "http://a/", to: "t", principal: "p", $1)
        }
        guard case .pending(let web, let token) = pending else { throw NeverHappened(description: "\(pending)") }
        #expect(
            try await registry.ask { $0.confirm(topic: "t", token: token, isSigned: true, needsSignature: false, $1) }
                == .confirmed(web)
        )
        _ = try await registry.ask { $0.unsubscribe(SubscriptionName(topic: "t", id: web), $1) }
        _ = try await registry.ask { $0.offerSigningKey(SealedCredential(text: "x"), $1) }
        let call = PublishCall(accessKey: "AK", invocation: "i", bodyHash: "h")
        _ = try await registry.ask { $0.claim(call, messageID: "m", $1) }
        try await registry.ask { $0.finish(call, messageID: "m", $1) }
        #expect(try await registry.ask { $0.purge(disabledFor: .zero, $1) }.endpoints == [name])
        _ = try await registry.ask { $0.deleteTopic("t", $1) }
        _ = try await registry.ask { $0.deleteApplication(.shop, $1) }
        try await registry.sweep()

        let session = try await RedisSession.open(address)
        defer { session.close() }
        await #expect(throws: RedisFailure.self) { try await session.send(RedisCommand("GET", "pf:budget:{x}")) }
        await #expect(throws: RedisFailure.self) { try await session.send(RedisCommand("FLUSHALL")) }
    }
}
