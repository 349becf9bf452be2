import Push
import Testing

@testable import Simulator

@Suite struct PolicyValueTests {
    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `An address that opens too many connections is blocked, others are not`() {
        var policy = ConnectionPolicy()
        policy.connectLimit = 2
        policy.connectWindow = .seconds(10)
        policy.connectBlock = .seconds(100)
        var gate = ConnectGate()
        let visits: [(second: Int64, source: String, isAdmitted: Bool)] = [
            (0, "a", true), (1, "a", true), (10, "a", true), (10, "b", true), (10, "a", false), (50, "a", false),
            (109, "a", false), (110, "a", true),
        ]
        for visit in visits {
            let why = gate.admit(visit.source, open: 0, policy: policy, at: Self.time(visit.second))
            #expect((why == nil) == visit.isAdmitted, "\(visit)")
        }
        #expect(gate.refused == 3)
        gate.block("b", until: Self.time(200))
        #expect(gate.admit("b", open: 0, policy: ConnectionPolicy(), at: Self.time(199)) != nil)
        #expect(gate.admit("b", open: 0, policy: ConnectionPolicy(), at: Self.time(200)) == nil)
    }

    @Test(
        arguments: [
            (UInt16(200), nil, 0), (400, "BadTopic", 1), (400, "BadDeviceToken", 5), (410, "Unregistered", 0),
            (429, "TooManyRequests", 1), (500, nil, 0),
        ] as [(UInt16, String?, Int)]
    )
    func `Each answer has its cost`(status: UInt16, reason: String?, cost: Int) {
        #expect(ConnectionPolicy().cost(status: status, reason: reason) == cost)
    }

    @Test func `A bucket empties and fills again`() {
        var buckets = TokenBuckets(rate: TokenRate(burst: 3, perSecond: 2))
        let admitted = (0..<5).map { _ in buckets.admit([1], at: Self.time(0)) }
        #expect(admitted == [true, true, true, false, false])
        #expect(buckets.admit([2], at: Self.time(0)) == true)
        let later = (0..<3).map { _ in buckets.admit([1], at: Self.time(1)) }
        #expect(later == [true, true, false])
        let muchLater = (0..<4).map { _ in buckets.admit([1], at: Self.time(1000)) }
        #expect(muchLater == [true, true, true, false])
        buckets.rate = nil
        #expect(buckets.admit([1], at: Self.time(1000)) == true)
    }

    @Test func `A tail is long, and stays within its bounds`() {
        let latency = Latency(
            .milliseconds(10) ... .seconds(700),
            shape: .tail(median: .milliseconds(100), p99: .seconds(10))
        )
        var random = SeededRandom(seed: 5)
        let draws = (0..<20_000).map { _ in latency.draw(from: &random) }.sorted()
        #expect(draws[0] >= .milliseconds(10) && draws[19_999] <= .seconds(700))
        #expect((Duration.milliseconds(90) ... .milliseconds(110)).contains(draws[10_000]))
        #expect((Duration.seconds(7) ... .seconds(14)).contains(draws[19_800]))
        var again = SeededRandom(seed: 5)
        #expect((0..<20_000).map { _ in latency.draw(from: &again) }.sorted() == draws)
    }

    @Test func `A held stream limit stays whatever is judged`() {
        var limit = StreamLimit(settings: StreamLimit.Settings(), held: 7)
        #expect(limit.current == 7)
        #expect(limit.judged(isAuthorized: true, isAccepted: true) == nil)
        #expect(limit.hold(1) == 1)
        #expect(limit.hold(nil) == 1000)
    }
}
