import Foundation
import Synchronization
import TestServers
import Testing

@testable import Registry

/// What endpoints cost in Redis. `PUSHFLEET_TEST_ENDPOINTS` sets how many there are; the promise is for a million.
@Suite struct MemoryTests {
    private static let count =
        ProcessInfo.processInfo.environment["PUSHFLEET_TEST_ENDPOINTS"].flatMap { Int($0) } ?? 20_000

    private static func used(_ redis: PrivateRedis) throws -> Int {
        let line = try redis.cli("INFO", "memory").split(whereSeparator: \.isNewline).first {
            $0.hasPrefix("used_memory:")
        }
        return try #require(line.flatMap { Int($0.dropFirst(12)) })
    }

    /// Microseconds that Redis took for a script on average, since this was asked last.
    private static func pace(_ redis: PrivateRedis) throws -> String {
        let lines = try redis.cli("INFO", "commandstats").split(whereSeparator: \.isNewline)
        try redis.cli("CONFIG", "RESETSTAT")
        let line = lines.first { $0.hasPrefix("cmdstat_evalsha:") } ?? ""
        return line.split(separator: ",").first { $0.hasPrefix("usec_per_call=") }.map { "\($0.dropFirst(14))" } ?? "?"
    }

    private static func token(_ number: Int, _ salt: Int) -> EndpointToken {
        var random = UInt64(number) &* 0x9e37_79b9_7f4a_7c15 ^ UInt64(salt) << 32
        var text = ""
        for _ in 0..<4 {
            random = (random ^ random >> 31) &* 0xbf58_476d_1ce4_e5b9
            let digits = String(random ^ random >> 27, radix: 16)
            text += String(repeating: "0", count: 16 - digits.count) + digits
        }
        return EndpointToken(text)
    }

    /// Asks many things at once, as a busy gateway does.
    private static func each(
        _ numbers: Range<Int>,
        in registry: TestRegistry,
        _ body: @escaping @Sendable (Registry, Int, @escaping () -> Void) -> Void
    ) async throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
            let batch = start..<min(start + 500, numbers.upperBound)
            try await registry.ask { registry, completion in
                var left = batch.count
                for number in batch {
                    body(registry, number) {
                        left -= 1
                        if left == 0 { completion(.success(())) }
                    }
                }
            }
        }
    }

    @Test func `An endpoint with a user, and after a change of token, takes less than 500 bytes`() async throws {
        try await withRegistry { redis, registry in
            try await registry.make(.shop)
            let start = try Self.used(redis)
            let failures = Mutex(0)
            let count = Self.count
            func made(withUser: Bool, _ numbers: Range<Int>) async throws {
                try await Self.each(numbers, in: registry) { registry, number, done in
                    let user = withUser ? "8b3ee0dc-4f0b-4b5e-9c42-\(100_000_000_000 + number)" : nil
                    let new = NewEndpoint(.shop, token: Self.token(number, 0), userData: user)
                    registry.createEndpoint(new) { result in
                        if case .success(.created) = result {} else { failures.withLock { $0 += 1 } }
                        done()
                    }
                }
            }
            _ = try Self.pace(redis)
            try await made(withUser: true, 0..<count)
            let create = try Self.pace(redis)
            try await Self.each(0..<min(count, 20_000), in: registry) { registry, number, done in
                let id = ApplicationName.shop.slots(for: Self.token(number, 0))[0]
                registry.target(EndpointName(application: .shop, id: id)) { result in
                    if case .success(_?) = result {} else { failures.withLock { $0 += 1 } }
                    done()
                }
            }
            let target = try Self.pace(redis)
            var listed = 0
            var after: ResourceID?
            repeat {
                let page = try await registry.ask { [after] in $0.endpoints(of: .shop, after: after, $1) }
                listed += page?.items.count ?? 0
                after = page?.next
            } while after != nil
            #expect(listed == count)
            let page = try Self.pace(redis)
            let withUser = (try Self.used(redis) - start) / count
            print("MEMORY of \(count) endpoints with a user: \(withUser) bytes each; create \(create), page \(page) µs")
            try await Self.each(0..<count, in: registry) { registry, number, done in
                let id = ApplicationName.shop.slots(for: Self.token(number, 0))[0]
                let change = EndpointChange(token: Self.token(number, 1), isEnabled: false)
                registry.setEndpoint(EndpointName(application: .shop, id: id), change) { result in
                    if case .success(.changed) = result {} else { failures.withLock { $0 += 1 } }
                    done()
                }
            }
            let changed = (try Self.used(redis) - start) / count
            let set = try Self.pace(redis)
            print(
                "SCRIPTS with \(count) endpoints, microseconds each: create \(create), target \(target), set \(set), "
                    + "page of 100 \(page)"
            )
            _ = try await registry.ask { $0.deleteApplication(.shop, $1) }
            let clock = ContinuousClock.now
            try await registry.sweep()
            let swept = ContinuousClock.now - clock
            let left = (try Self.used(redis) - start) / count
            try await registry.make(.shop)
            try await made(withUser: false, 0..<count)
            let without = (try Self.used(redis) - start) / count
            print(
                "MEMORY of \(count) endpoints, bytes each: \(without), with a user \(withUser), disabled with another token "
                    + "\(changed); \(left) after all were deleted and swept, in \(swept)"
            )
            #expect(failures.withLock { $0 } == 0)
            #expect(withUser < 500 && without < 500 && left < 50)
            #expect(changed < 900, "few endpoints pay for buckets of their own, and for the index of what is disabled")
        }
    }
}
