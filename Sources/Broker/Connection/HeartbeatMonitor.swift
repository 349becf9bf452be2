internal import Push

/// When to send a heartbeat, and when a silent peer is dead.
///
/// AMQP 0-9-1 §4.2.7: any bytes count as a sign of life; a peer that said nothing for two intervals is gone. We speak
/// every half interval, as RabbitMQ does, so that one late frame does no harm.
struct HeartbeatMonitor: Equatable {
    let interval: Duration
    private(set) var lastReceived: MonotonicTime
    private(set) var lastSent: MonotonicTime

    enum Verdict: Equatable {
        case send
        case dead
        case wait(until: MonotonicTime)
    }

    init(interval: Duration, now: MonotonicTime) {
        self.interval = interval
        self.lastReceived = now
        self.lastSent = now
    }

    mutating func received(at now: MonotonicTime) { self.lastReceived = now }

    mutating func sent(at now: MonotonicTime) { self.lastSent = now }

    func check(at now: MonotonicTime) -> Verdict {
        let death = self.lastReceived + self.interval * 2
        let next = self.lastSent + self.interval / 2
        if now >= death { return .dead }
        return now >= next ? .send : .wait(until: min(death, next))
    }
}
