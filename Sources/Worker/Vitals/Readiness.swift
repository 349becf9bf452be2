package import Push

/// Whether a worker does its work, or rightly waits for a lease; and what to say of it.
package enum Readiness: Equatable, Sendable {
    case ready(String)
    case notReady(String)

    package var isReady: Bool {
        guard case .ready = self else { return false }
        return true
    }

    /// One line for people.
    package var text: String {
        switch self {
        case .ready(let text), .notReady(let text): text
        }
    }

    /// What a worker's last words mean now.
    package static func judge(_ vitals: WorkerVitals, at now: MonotonicTime) -> Readiness {
        guard vitals.isTurning(at: now) else {
            return .notReady("its loop has not turned for \((now - vitals.time).milliseconds / 1000) s")
        }
        switch vitals.phase {
        case .draining: return .notReady("it drains; \(vitals.inFlight) messages have no answer yet")
        case .closing: return .notReady("it leaves")
        case .running: break
        }
        if !vitals.isConsumeConnected || !vitals.isPublishConnected {
            let which = vitals.isConsumeConnected ? "publish" : "consume"
            return .notReady("RabbitMQ is not connected (\(which)); the log says why")
        }
        if !vitals.arePausesKnown { return .notReady("Redis has not told yet which apps are paused") }
        if vitals.allowed == 0 { return Self.withoutLease(vitals) }
        let stalled = now - vitals.progressAt
        if vitals.streams > 0, stalled > vitals.requestTimeout + vitals.requestTimeout {
            let seconds = stalled.milliseconds / 1000
            return .notReady("\(vitals.streams) requests, and no answer of any kind for \(seconds) s")
        }
        if vitals.wantedQueues == 0 { return .ready("all apps that it has connections for are paused") }
        if vitals.consumedQueues == 0 {
            return .notReady("it consumes none of \(vitals.wantedQueues) queues; are they declared?")
        }
        return .ready("it consumes \(vitals.consumedQueues) of \(vitals.wantedQueues) queues")
    }

    private static func withoutLease(_ vitals: WorkerVitals) -> Readiness {
        guard vitals.isRedisUp else { return .notReady("Redis does not answer, so there is no lease") }
        if let problem = vitals.pools.lazy.compactMap(\.problem).first {
            return .notReady("there is no lease: \(problem)")
        }
        return .ready("it waits for a lease: other workers have all connections")
    }

    /// Of all workers of a process: ready if each is.
    package static func judge(all vitals: [WorkerVitals], at now: MonotonicTime) -> Readiness {
        let judged = vitals.map { ($0.name, Self.judge($0, at: now)) }
        guard !judged.isEmpty else { return .notReady("it starts") }
        if let (name, refusal) = judged.first(where: { !$0.1.isReady }) {
            return .notReady(judged.count > 1 ? "\(name): \(refusal.text)" : refusal.text)
        }
        guard judged.count > 1 else { return judged[0].1 }
        return .ready(judged.map { "\($0.0): \($0.1.text)" }.joined(separator: "; "))
    }
}
