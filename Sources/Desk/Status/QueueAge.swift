internal import Broker
package import Push
package import Store

/// How long the oldest message of a queue has waited, estimated without taking it out.
///
/// A work queue is in order: what waits was published after the newest message that a worker has received, and came
/// after the queue was last seen empty. Both bound the age from above; messages that were given back may be older. In
/// a retry level every message rests for the same time, so that its age says only whether something has been there;
/// what grows there is the depth. Of other queues only the second is known.
package enum QueueAge {
    /// - Parameter emptyAt: when somebody last saw that it was empty.
    /// - Returns: nil if nothing waits, or nothing is known.
    package static func estimate(
        _ queue: QueueStatus,
        receivedUntil: UnixTime?,
        emptyAt: UnixTime?,
        now: UnixTime
    ) -> Duration? {
        guard let depth = queue.depth, depth.messages > 0 else { return nil }
        var bounds: [Duration] = []
        switch queue.role {
        case .work: if let receivedUntil { bounds.append(now - receivedUntil) }
        case .delay(let level): bounds.append(level.duration)
        case .dead, .feedback, .suspect, .receipts, .unrouted: break
        }
        if let emptyAt { bounds.append(now - emptyAt) }
        return bounds.min().map { max(.zero, $0) }
    }

    /// Of all queues, milliseconds by name.
    package static func all(
        _ queues: [QueueStatus],
        fleet: FleetStatus?,
        emptyAt: [String: UnixTime],
        now: UnixTime
    ) -> [String: Int64] {
        var until: [String: UnixTime] = [:]
        for lane in fleet?.lanes ?? [] { until["\(lane.lane):\(lane.app)"] = lane.receivedUntil }
        var ages: [String: Int64] = [:]
        for queue in queues {
            var received: UnixTime?
            if case .work(let app, let lane) = queue.role { received = until["\(lane.rawValue):\(app.name)"] }
            let age = Self.estimate(queue, receivedUntil: received, emptyAt: emptyAt[queue.name], now: now)
            ages[queue.name] = age?.milliseconds
        }
        return ages
    }
}
