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

    @Test func `What is set for one environment is not known in the other`() {
        var registry = TokenRegistry(unknown: .accept)
        let topic = Array("a.b".utf8)[...]
        registry.set(Self.token, topic: nil, to: .active, environment: .sandbox)
        #expect(registry.verdict(token: Self.token, topic: topic) == .refused(.badDeviceToken))
        #expect(registry.verdict(token: Self.token, topic: topic, environment: .sandbox) == .accepted)
        registry.set(Self.token, topic: nil, to: .unregistered(at: Self.time), environment: .production)
        #expect(registry.verdict(token: Self.token, topic: topic) == .refused(.unregistered, at: Self.time))
        #expect(registry.verdict(token: Self.token, topic: topic, environment: .sandbox) == .accepted)
        #expect(registry.registrations(of: Self.token).count == 2)
    }

    @Test func `A 410 may show late, and not any more after a new registration`() {
        var registry = TokenRegistry(unknown: .accept)
        let topic = Array("a.b".utf8)[...]
        let now = UnixTime(seconds: 1000)
        registry.reportDelay = .seconds(60)
        registry.set(Self.token, topic: nil, to: .unregistered(at: Self.time), at: now)
        let early = registry.verdict(token: Self.token, topic: topic, at: now + .seconds(59))
        let late = registry.verdict(token: Self.token, topic: topic, at: now + .seconds(60))
        #expect(early == .accepted && late == .refused(.unregistered, at: Self.time))
        registry.set(Self.token, topic: nil, to: .expired(at: Self.time), showsAt: now, at: now)
        #expect(registry.verdict(token: Self.token, topic: topic, at: now) == .refused(.expiredToken, at: Self.time))
        registry.set(Self.token, topic: nil, to: .reregistered(at: now), at: now)
        #expect(registry.verdict(token: Self.token, topic: topic, at: now + .seconds(99)) == .accepted)
    }
}
