import Foundation
import Push
import TestServers
import Testing

@testable import Gateway

@Suite struct CallRateTests {
    private static func key(rate: Int?, bucket: Int? = nil) throws -> AccessKeySettings {
        var key = AccessKeySettings(name: "shop", id: "AK", secret: "s")
        key.rate = try rate.map { try RateLimit(rate: $0, bucketSize: bucket) }
        return key
    }

    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test("without a rate nobody asks")
    func none() throws {
        let rate = CallRate([try Self.key(rate: nil)])
        #expect(rate.takes("AK", at: Self.start) == .go && rate.takes("other", at: Self.start) == .go)
    }

    @Test(
        "a block is a tenth of a second, never more than the bucket, and one at least",
        arguments: [(1000, nil, 100), (1000, 30, 30), (5, nil, 1), (1, nil, 1)] as [(Int, Int?, Int)]
    )
    func block(calls: Int, bucket: Int?, count: Int) throws {
        let key = try Self.key(rate: calls, bucket: bucket)
        let rate = CallRate([key])
        let limit = try #require(key.rate)
        #expect(rate.takes("AK", at: Self.start) == .ask(count, limit))
        // While that is under way, others ask for themselves.
        #expect(rate.takes("AK", at: Self.start) == .ask(1, limit))
    }

    @Test("a block is used up without asking, lapses after a second, and an empty bucket is not asked at once")
    func life() throws {
        let key = try Self.key(rate: 100)
        let rate = CallRate([key])
        let limit = try #require(key.rate)
        var now = Self.start
        #expect(rate.takes("AK", at: now) == .ask(10, limit))
        #expect(rate.took(10, of: "AK", at: now))
        for _ in 0..<4 { #expect(rate.takes("AK", at: now) == .go) }
        now = now + .milliseconds(1001)
        #expect(rate.takes("AK", at: now) == .ask(10, limit))
        #expect(rate.took(2, of: "AK", at: now))
        #expect(rate.takes("AK", at: now) == .go)
        #expect(rate.takes("AK", at: now) == .ask(10, limit))
        #expect(!rate.took(0, of: "AK", at: now))
        #expect(rate.takes("AK", at: now + .milliseconds(9)) == .refused)
        #expect(rate.takes("AK", at: now + .milliseconds(10)) == .ask(10, limit))
        // Without an answer nobody is refused for it.
        #expect(rate.took(nil, of: "AK", at: now))
    }

    @Test("two gateways share a key's rate")
    func shared() async throws {
        // So slow that nothing comes back while this runs.
        let key = try Self.key(rate: 1, bucket: 40)
        let first = try await TestGateway.start { $0.keys = [key] }
        let second = try await TestGateway.start(beside: first) { $0.keys = [key] }
        var allowed = 0
        for gateway in [first, second, first, second, first, second] {
            for _ in 0..<20 {
                let answer = try await gateway.signed("ListTopics", key: key)
                #expect(answer.status == 200 || answer.element("Code") == "Throttling", "\(answer.text)")
                if answer.status == 200 { allowed += 1 }
            }
        }
        // As many as the bucket has, and those that came back meanwhile.
        #expect((40...70).contains(allowed))
        await second.gateway.stop()
        await first.gateway.stop()
    }

    @Test("access keys are exchanged while it runs")
    func exchanged() async throws {
        let (old, new) = (
            AccessKeySettings(name: "shop", id: "AKOLD", secret: "a"),
            AccessKeySettings(name: "shop", id: "AKNEW", secret: "b")
        )
        let test = try await TestGateway.start { $0.keys = [old] }
        func codes() async throws -> [Int] {
            var codes: [Int] = []
            for key in [old, new] {
                codes.append(try await test.signed("ListTopics", key: key).status)
            }
            return codes
        }
        #expect(try await codes() == [200, 403])
        var settings = test.settings
        settings.keys = [new]
        test.gateway.use(settings)
        #expect(try await codes() == [403, 200])
        // The same id with another secret: what was derived from the old one is forgotten.
        settings.keys = [AccessKeySettings(name: "shop", id: "AKNEW", secret: "c")]
        test.gateway.use(settings)
        #expect(try await codes() == [403, 403])
        await test.gateway.stop()
    }
}
