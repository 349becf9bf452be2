import TestServers
import Testing

@testable import Registry

@Suite struct PublishClaimTests {
    @Test func `One call is claimed once, and its attempts get the first id`() async throws {
        try await withRegistry { redis, registry in
            let call = PublishCall(accessKey: "AK", invocation: "1-2-3", bodyHash: "00ff")
            func claim(_ call: PublishCall, _ id: String) async throws -> PublishClaim {
                try await registry.ask { $0.claim(call, messageID: id, $1) }
            }
            #expect(try await claim(call, "m1") == .first)
            #expect(try await claim(call, "m1") == .first, "its answer may have been lost")
            #expect(try await claim(call, "m2") == .pending("m1"))
            try await registry.ask { $0.finish(call, messageID: "m1", $1) }
            #expect(try await claim(call, "m3") == .done("m1"))
            for other in [
                PublishCall(accessKey: "AL", invocation: "1-2-3", bodyHash: "00ff"),
                PublishCall(accessKey: "AK", invocation: "1-2-4", bodyHash: "00ff"),
                PublishCall(accessKey: "AK", invocation: "1-2-3", bodyHash: "00fe"),
            ] {
                #expect(try await claim(other, "m4") == .first)
            }
            let keys = try redis.cli("KEYS", "pf:once:*").split(separator: "\n").map(String.init)
            #expect(keys.count == 4)
            for key in keys { #expect((800...900).contains(Int(try redis.cli("TTL", key)) ?? 0)) }
        }
    }
}
