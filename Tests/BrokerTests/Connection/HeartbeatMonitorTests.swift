import Push
import Testing

@testable import Broker

@Suite struct HeartbeatMonitorTests {
    private func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    @Test func `It speaks after half an interval of silence and gives up after two intervals without a word`() {
        var monitor = HeartbeatMonitor(interval: .seconds(10), now: self.at(0))
        #expect(monitor.check(at: self.at(0)) == .wait(until: self.at(5)))
        #expect(monitor.check(at: self.at(5)) == .send)
        monitor.sent(at: self.at(5))
        #expect(monitor.check(at: self.at(5)) == .wait(until: self.at(10)))
        monitor.received(at: self.at(9))
        monitor.sent(at: self.at(28))
        #expect(monitor.check(at: self.at(28.9)) == .wait(until: self.at(29)))
        #expect(monitor.check(at: self.at(29)) == .dead)
    }

    @Test func `Anything sent or received counts`() {
        var monitor = HeartbeatMonitor(interval: .seconds(2), now: self.at(0))
        for step in 1...100 {
            let now = self.at(Double(step) * 0.9)
            monitor.received(at: now)
            monitor.sent(at: now)
            #expect(monitor.check(at: now) == .wait(until: now + .seconds(1)))
        }
    }
}
