import Push
import Testing

@testable import Store

@Suite struct CounterPartTests {
    private static func deltas(_ body: (inout CounterBatch) -> Void) -> [CounterBatch.Delta] {
        var batch = CounterBatch()
        body(&batch)
        return batch.take(limit: .max)
    }

    @Test func `Each app and lane has its totals and its minute, and each lane the fleet's minute`() {
        let deltas = Self.deltas { batch in
            for app in ["a", "b:c"] {
                let slot = batch.slot(app: app, lane: "now")
                batch.add(.received, 2, at: slot)
                batch.add(.retried, batch.reason("429 TooManyRequests"), at: slot)
                batch.observe(.milliseconds(7), .dwell, at: slot)
            }
            batch.add(.received, at: batch.slot(app: "a", lane: "bulk"))
        }
        let parts = CounterPart.all(of: deltas, in: 29_000_000)
        #expect(
            parts.map(\.key) == [
                "pf:{counters}:of:now:a", "pf:{counters}:minute:29000000:now:a",
                "pf:{counters}:of:now:b:c", "pf:{counters}:minute:29000000:now:b:c",
                "pf:{counters}:of:bulk:a", "pf:{counters}:minute:29000000:bulk:a",
                "pf:{counters}:fleet:29000000:bulk", "pf:{counters}:fleet:29000000:now",
            ]
        )
        #expect(parts[0].counts.contains { $0.name == "dwell.le_10" && $0.count == 1 })
        #expect(!parts[1].counts.contains { $0.name.hasPrefix("dwell") }, "an app's minute has no histograms")
        let fleet = Dictionary(uniqueKeysWithValues: parts[7].counts.map { ($0.name, $0.count) })
        #expect(fleet == ["received": 4, "retried": 2, "dwell.le_10": 2, "dwell.sum": 14, "dwell.count": 2])
        #expect(parts[7].reasons.map(\.name) == ["retried.429 TooManyRequests"])
        #expect(parts.map(\.member) == ["now:a", "", "now:b:c", "", "bulk:a", "", "", ""])
    }

    @Test func `The newest publishing time is told once, and alone makes no minute`() {
        var batch = CounterBatch()
        let slot = batch.slot(app: "a", lane: "now")
        for time in [5, 9, 7] { batch.received(publishedAt: UnixTime(milliseconds: Int64(time)), at: slot) }
        let parts = CounterPart.all(of: batch.take(limit: .max), in: 1)
        #expect(parts.count == 1 && parts.first?.newest == 9)
        batch.add(.received, at: slot)
        #expect(batch.take(limit: .max).first?.newest == 0)
    }

    @Test(arguments: [(0, 0), (59_999, 0), (60_000, 1), (-1, -1), (-60_000, -1), (-60_001, -2)])
    func `A minute begins at its first millisecond`(milliseconds: Int64, minute: Int64) {
        #expect(UnixTime(milliseconds: milliseconds).minute == minute)
    }

    @Test func `A series has a place for each minute, and nil where nothing was written`() {
        var series = FleetSeries(start: 100, length: 3)
        series.add(["delivered": 2, "apns_latency.le_50": 4], minute: 100, lane: "now")
        series.add(["delivered": 3], minute: 100, lane: "bulk")
        series.add(["received": 1], minute: 102, lane: "now")
        series.add(["delivered": 9], minute: 103, lane: "now")
        series.add(["delivered": 9], minute: 99, lane: "now")
        series.add([:], minute: 101, lane: "now")
        #expect(series.values(.delivered) == [5, nil, 0])
        #expect(series.percentiles(0.5, of: .apnsLatency) == [37.5, nil, nil])
        #expect(series.total()[.delivered] == 5 && series.total(lane: "bulk")[.delivered] == 3)
        #expect(series.last(1).values(.received) == [1])
        #expect(series.last(9).length == 3 && FleetSeries(start: 0, length: -1).values(.received).isEmpty)
    }
}
