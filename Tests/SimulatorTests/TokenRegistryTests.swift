import Push
import Testing

@testable import Simulator

@Suite struct TokenRegistryTests {
    private static let token: [UInt8] = [1, 2, 3]
    private static let time = UnixTime(milliseconds: 1_700_000_000_123)

    @Test(arguments: [
        (TokenState.active, Verdict.accepted), (.unregistered(at: time), .refused(.unregistered, at: time)),
        (.expired(at: time), .refused(.expiredToken, at: time)),
        (.otherTopic, .refused(.deviceTokenNotForTopic)), (.otherEnvironment, .refused(.badDeviceToken)),
    ])
    func `Each state has its verdict`(state: TokenState, verdict: Verdict) {
        for unknown in UnknownTokens.allCases {
            var registry = TokenRegistry(unknown: unknown)
            registry.set(Self.token, topic: nil, to: state)
            #expect(registry.verdict(token: Self.token, topic: Array("a.b".utf8)[...]) == verdict)
        }
    }

    @Test func `Unknown tokens are answered as was set`() {
        var registry = TokenRegistry(unknown: .accept)
        #expect(registry.verdict(token: [9], topic: [1]) == .accepted)
        registry.set(Self.token, topic: nil, to: .active)
        #expect(registry.verdict(token: [9], topic: [1]) == .accepted)
        registry.unknown = .refuse
        #expect(registry.verdict(token: [9], topic: [1]) == .refused(.badDeviceToken))
    }

    @Test func `What is set for the topic goes before what is set for all`() {
        var registry = TokenRegistry(unknown: .refuse)
        registry.set(Self.token, topic: nil, to: .otherTopic)
        registry.set(Self.token, topic: [1], to: .active)
        #expect(registry.verdict(token: Self.token, topic: [1]) == .accepted)
        #expect(registry.verdict(token: Self.token, topic: [2]) == .refused(.deviceTokenNotForTopic))
        registry.set(Self.token, topic: [1], to: .otherEnvironment)
        #expect(registry.verdict(token: Self.token, topic: [1]) == .refused(.badDeviceToken))
        #expect(registry.registrations(of: Self.token).count == 2)
    }

    @Test func `A token that is known for another topic only is not for this one`() {
        var registry = TokenRegistry(unknown: .accept)
        registry.set(Self.token, topic: [1], to: .active)
        #expect(registry.verdict(token: Self.token, topic: [2]) == .refused(.deviceTokenNotForTopic))
        registry.removeAll()
        #expect(registry.verdict(token: Self.token, topic: [2]) == .accepted)
    }
}
