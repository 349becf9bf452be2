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

    /// - Parameter fleet: of an app's series, the whole fleet's: where that has a minute and the app has none, the app
    ///   rested, and its counts are 0.
    init(_ series: FleetSeries, hasLatency: Bool, in fleet: FleetSeries? = nil) {
        let rested = (0..<Int64(series.length)).map { fleet?.has(series.start + $0) == true }
        func values(_ field: CounterField) -> [Int64?] {
            zip(series.values(field), rested).map { $0 ?? ($1 ? 0 : nil) }
        }
        self.startMs = UnixTime(minute: series.start).milliseconds
        self.stepMs = 60_000
        self.received = values(.received)
        self.delivered = values(.delivered)
        self.retried = values(.retried)
        self.deadLettered = values(.deadLettered)
        self.apnsP50Ms = hasLatency ? series.percentiles(0.5, of: .apnsLatency) : nil
        self.apnsP99Ms = hasLatency ? series.percentiles(0.99, of: .apnsLatency) : nil
    }
}
