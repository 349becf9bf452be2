import Push
package import Store

/// The script of the fleet's pace of connecting, in Swift. That both do the same is tested by histories that go through
/// both.
package struct PaceModel: Sendable {
    /// When the next slot would be due at a steady pace, in microseconds; nil when Redis knows nothing.
    private var next: Int?

    package init() {}

    /// - Parameter now: the server's clock, microseconds.
    package mutating func take(at pace: ConnectPace, now: Int) -> PaceAnswer {
        func microseconds(_ time: Duration) -> Int { Int(time.nanoseconds / 1000) }
        let (interval, tolerance) = (microseconds(pace.interval), microseconds(pace.tolerance))
        let horizon = microseconds(ConnectPace.horizon)
        let next = min(max(self.next ?? now, now), now + tolerance + horizon + interval)
        let wait = max(0, next - tolerance - now)
        guard wait <= horizon else {
            self.next = next
            return PaceAnswer(hasSlot: false, wait: .microseconds(wait - horizon))
        }
        self.next = next + interval
        return PaceAnswer(hasSlot: true, wait: .microseconds(wait))
    }
}
