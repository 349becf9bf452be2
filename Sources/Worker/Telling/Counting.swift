internal import Push
internal import Store

typealias CounterSlot = CounterBatch.Slot

/// What the flow counts. Counting adds to numbers in memory; Redis sees them in batches and is never waited for.
struct Counting {
    private let flush: CounterFlush

    init(_ flush: CounterFlush) {
        self.flush = flush
    }

    func slot(app: String, lane: String) -> CounterSlot {
        self.flush.batch.slot(app: app, lane: lane)
    }

    func add(_ field: CounterField, _ slot: CounterSlot, _ count: Int64 = 1) {
        guard count != 0 else { return }
        self.flush.batch.add(field, count, at: slot)
    }

    /// Counts under the field and under the reason, of which there is a bounded number.
    func add(_ field: ReasonField, _ reason: String, _ slot: CounterSlot) {
        self.flush.batch.add(field, self.flush.batch.reason(reason), at: slot)
    }

    /// A message was received for the first time.
    func received(publishedAt published: UnixTime, now: UnixTime, _ slot: CounterSlot) {
        self.flush.batch.observe(now - published, .dwell, at: slot)
        // A publisher's clock that goes ahead must not hide what waits.
        self.flush.batch.received(publishedAt: min(published, now), at: slot)
    }

    func observe(_ field: HistogramField, _ value: Duration, _ slot: CounterSlot) {
        self.flush.batch.observe(value, field, at: slot)
    }
}
