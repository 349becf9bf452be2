internal import Push
internal import Store

/// What people see.
extension StatusReport {
    func lines() -> [String] {
        var parts: [[String]] = []
        if let queues = self.queues { parts += Self.lines(queues) }
        if let lanes = self.lanes { parts += self.lines(lanes) }
        if let budgets = self.budgets { parts.append(Self.lines(budgets)) }
        if let workers = self.workers { parts.append(self.lines(workers)) }
        return Array(parts.joined(separator: [""]))
    }

    private static func lines(_ queues: [Queue]) -> [[String]] {
        var work = Table("app", "lane", ">waiting", ">consumers")
        for queue in queues where queue.kind == "work" {
            work.add(queue.app ?? "", queue.lane ?? "", Self.text(queue.messages), Self.text(queue.consumers))
        }
        var others = Table("queue", ">messages")
        // Delay queues that hold nothing say nothing.
        for queue in queues where queue.kind != "work" && (queue.kind != "delay" || queue.messages != 0) {
            others.add(queue.name, Self.text(queue.messages))
        }
        let isIncomplete = queues.contains { $0.messages == nil }
        return [work.lines(), others.lines()]
            + (isIncomplete ? [["Some queues do not exist: run pushfleet topology declare."]] : [])
    }

    private func lines(_ lanes: [Lane]) -> [[String]] {
        guard !lanes.isEmpty else { return [["Nothing has been counted yet."]] }
        var counts = Table(
            "app",
            "lane",
            ">received",
            ">in flight",
            ">attempts",
            ">delivered",
            ">retried",
            ">dead-lettered",
            ">tokens gone",
            ">possible duplicates"
        )
        var times = Table(
            "app",
            "lane",
            ">APNs p50",
            ">p95",
            ">p99",
            ">end to end p50",
            ">p95",
            ">p99"
        )
        var reasons = Table("app", "lane", "what", "reason", ">count")
        for lane in lanes {
            func count(_ field: CounterField) -> String { "\(lane.counters[field.rawValue] ?? 0)" }
            counts.add(
                lane.app,
                lane.lane,
                count(.received),
                "\(lane.in_flight)",
                count(.attempts),
                count(.delivered),
                count(.retried),
                count(.deadLettered),
                count(.tokensGone),
                count(.possibleDuplicates)
            )
            times.add([lane.app, lane.lane] + [lane.apns_latency, lane.end_to_end].flatMap(Self.percentiles))
            for (what, found) in [
                ("retried", lane.retried_by_reason), ("dead-lettered", lane.dead_lettered_by_reason),
            ] {
                for (reason, count) in found.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                    reasons.add(lane.app, lane.lane, what, reason, "\(count)")
                }
            }
        }
        return [counts.lines(), times.lines()] + (reasons.isEmpty ? [] : [reasons.lines()])
    }

    private static func percentiles(_ latency: Latency) -> [String] {
        [latency.p50_ms, latency.p95_ms, latency.p99_ms].map { value in
            value.map { DurationText.spoken(.milliseconds(Int64($0.rounded(.up)))) } ?? "-"
        }
    }

    private static func lines(_ budgets: [Budget]) -> [String] {
        var table = Table("budget", ">held", ">wanted", ">allowed", "")
        for budget in budgets {
            var notes: [String] = []
            if let configured = budget.configured, let inForce = budget.in_force, configured != inForce {
                notes.append("workers go by \(inForce)")
            }
            if budget.quarantine_ms > 0 {
                notes.append("nothing new for \(DurationText.spoken(.milliseconds(budget.quarantine_ms)))")
            }
            table.add(
                budget.pool,
                "\(budget.held)",
                "\(budget.wanted)",
                Self.text(budget.configured ?? budget.in_force),
                notes.joined(separator: ", ")
            )
        }
        return table.isEmpty ? ["No budget yet: run pushfleet topology declare."] : table.lines()
    }

    private func lines(_ workers: [Worker]) -> [String] {
        guard !workers.isEmpty else { return ["No worker is running."] }
        let now = self.time_ms ?? 0
        var table = Table(
            "worker",
            "host",
            ">pid",
            "version",
            ">up",
            ">last beat",
            ">connections",
            ">in flight",
            ">prefetch"
        )
        for worker in workers {
            table.add(
                worker.id,
                worker.host,
                "\(worker.pid)",
                worker.version,
                Self.ago(worker.started_at_ms, now),
                worker.last_beat_ms.map { Self.ago($0, now) } ?? "",
                "\(worker.connections_held.values.reduce(0, +))",
                "\(worker.in_flight)",
                "\(worker.prefetch)"
            )
        }
        return table.lines()
    }

    /// Whole seconds, never negative: the two clocks may differ.
    private static func ago(_ then: Int64, _ now: Int64) -> String {
        DurationText.spoken(.seconds(max(0, now - then) / 1000))
    }

    private static func text(_ number: Int?) -> String { number.map(String.init) ?? "-" }
}
