internal import APNs
internal import Desk
internal import Push
internal import Store

/// What people see.
extension StatusReport {
    func lines() -> [String] {
        var parts: [[String]] = []
        if let queues = self.queues { parts += Self.lines(queues) }
        if let pauses = self.pausedApps, !pauses.isEmpty { parts.append(self.lines(pauses)) }
        if let lanes = self.lanes { parts += self.lines(lanes) }
        if let budgets = self.budgets { parts.append(self.lines(budgets)) }
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
                "\(lane.inFlight)",
                count(.attempts),
                count(.delivered),
                count(.retried),
                count(.deadLettered),
                count(.tokensGone),
                count(.possibleDuplicates)
            )
            times.add([lane.app, lane.lane] + [lane.apnsLatency, lane.endToEnd].flatMap(Self.percentiles))
            for (what, found) in [
                ("retried", lane.retriedByReason), ("dead-lettered", lane.deadLetteredByReason),
            ] {
                for (reason, count) in found.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                    reasons.add(lane.app, lane.lane, what, reason, "\(count)")
                }
            }
        }
        return [counts.lines(), times.lines()] + (reasons.isEmpty ? [] : [reasons.lines()])
    }

    private static func percentiles(_ latency: LatencyReport) -> [String] {
        [latency.p50Ms, latency.p95Ms, latency.p99Ms].map { value in
            value.map { DurationText.spoken(.milliseconds(Int64($0.rounded(.up)))) } ?? "-"
        }
    }

    private func lines(_ pauses: [PausedAppReport]) -> [String] {
        let now = self.timeMs ?? 0
        var table = Table("paused app", "cause", ">for", ">next", "by", "reason")
        for pause in pauses {
            let next: String
            switch pause.untilMs {
            case _ where pause.probedBy != nil: next = "probing"
            case nil: next = "resume"
            case let until?: next = until > now ? "in \(Self.ago(now, until))" : "now"
            }
            table.add(pause.app, pause.cause, Self.ago(pause.sinceMs, now), next, pause.by, pause.reason ?? "")
        }
        return table.lines()
    }

    private func lines(_ budgets: [BudgetReport]) -> [String] {
        var table = Table("budget", ">held", ">wanted", ">allowed", "")
        for budget in budgets {
            var notes: [String] = []
            if let configured = budget.configured, let inForce = budget.inForce, configured != inForce {
                notes.append("workers go by \(inForce)")
            }
            if budget.quarantineMs > 0 {
                notes.append("nothing new for \(DurationText.spoken(.milliseconds(budget.quarantineMs)))")
            }
            if budget.waited > 0 {
                let mean = Duration.milliseconds(budget.waitTimeMs / Int64(budget.waited))
                notes.append("waited \(budget.waited) times, \(DurationText.spoken(mean)) on average")
            }
            if budget.reclaimed > 0 { notes.append("\(budget.reclaimed) reclaimed") }
            if budget.overage > 0 { notes.append("\(budget.overage) open without a lease") }
            if let end = budget.certificateExpiresAtMs.map({ UnixTime(milliseconds: $0) }) {
                let days = self.timeMs.map { CertificateExpiry.days(to: end, at: UnixTime(milliseconds: $0)) }
                notes.append("certificate until \(end.date)\(days.map { ", \($0) days" } ?? "")")
            }
            table.add(
                budget.pool,
                "\(budget.held)",
                "\(budget.wanted)",
                Self.text(budget.configured ?? budget.inForce),
                notes.joined(separator: ", ")
            )
        }
        return table.isEmpty ? ["No budget yet: run pushfleet topology declare."] : table.lines()
    }

    private func lines(_ workers: [WorkerReport]) -> [String] {
        guard !workers.isEmpty else { return ["No worker is running."] }
        let now = self.timeMs ?? 0
        var table = Table(
            "worker",
            "host",
            ">pid",
            "version",
            ">up",
            ">last beat",
            ">connections",
            ">in flight",
            ">prefetch",
            "paused"
        )
        for worker in workers {
            table.add(
                worker.id,
                worker.host,
                "\(worker.pid)",
                worker.version,
                Self.ago(worker.startedAtMs, now),
                worker.lastBeatMs.map { Self.ago($0, now) } ?? "",
                "\(worker.connectionsHeld.values.reduce(0, +))",
                "\(worker.inFlight)",
                "\(worker.prefetch)",
                worker.paused.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
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
