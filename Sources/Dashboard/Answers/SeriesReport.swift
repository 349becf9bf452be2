internal import Push
internal import Store

/// Counters by minute: one value for each, the oldest first; null where nothing was written.
struct SeriesReport: Encodable, Equatable {
    let startMs: Int64
    let stepMs: Int64
    let received: [Int64?]
    let delivered: [Int64?]
    let retried: [Int64?]
    let deadLettered: [Int64?]
    /// Left out where latencies are not kept by minute: of a single app.
    let apnsP50Ms: [Double?]?
    let apnsP99Ms: [Double?]?

    init(_ series: FleetSeries, hasLatency: Bool) {
        self.startMs = UnixTime(minute: series.start).milliseconds
        self.stepMs = 60_000
        self.received = series.values(.received)
        self.delivered = series.values(.delivered)
        self.retried = series.values(.retried)
        self.deadLettered = series.values(.deadLettered)
        self.apnsP50Ms = hasLatency ? series.percentiles(0.5, of: .apnsLatency) : nil
        self.apnsP99Ms = hasLatency ? series.percentiles(0.99, of: .apnsLatency) : nil
    }
}
