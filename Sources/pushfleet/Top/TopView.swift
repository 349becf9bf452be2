internal import Broker
internal import Desk
internal import Push
internal import Store

/// What `pushfleet top` shows of the fleet: lines of plain text, whatever names and reasons hold.
struct TopView {
    /// The fleet an interval ago, for rates; nil at first.
    let before: FleetStatus?
    let now: FleetSnapshot
    /// As the configuration has them.
    let budgets: [Budget]
    /// Why RabbitMQ or Redis did not answer.
    var problems: [String] = []

    /// - Parameters:
    ///   - width: characters in a line; what is beyond is cut off.
    ///   - height: lines that there is room for; nil for all.
    func lines(width: Int, height: Int? = nil) -> [String] {
        var parts: [[String]] = [self.head]
        if let status = self.now.fleet {
            parts += [self.outcomes(status), self.lanes(status), self.pools(status), self.workers(status)]
            parts.append(self.reasons(status))
        } else {
            parts.append(self.queuesAlone)
        }
        var lines = Array(parts.filter { !$0.isEmpty }.joined(separator: [""]))
        if let height, lines.count > height { lines = Array(lines.prefix(max(0, height))) }
        return lines.map { String($0.prefix(max(0, width))) }
    }

    // MARK: Rates

    private var seconds: Double? {
        guard let before = self.before, let status = self.now.fleet else { return nil }
        let time = status.time.milliseconds - before.time.milliseconds
        return time > 0 ? Double(time) / 1000 : nil
    }

    /// By the second; nil if only one moment is known. Counters that Redis lost begin at zero again.
    private func rate(_ new: Int64, _ old: Int64) -> Double? {
        self.seconds.map { Double(new >= old ? new - old : new) / $0 }
    }

    private static func text(_ rate: Double?) -> String {
        guard let rate else { return "-" }
        let tenths = (rate * 10).rounded() / 10
        return rate >= 10 || tenths == tenths.rounded() ? "\(Int(rate.rounded()))" : "\(tenths)"
    }

    private static func shown(_ text: String) -> String { Shown.text(text.utf8) }

    // MARK: Parts

    private var head: [String] {
        let time = self.now.fleet.map { Moment.full($0.time.milliseconds) } ?? "Redis does not answer"
        var words = ["pushfleet top", time]
        if let status = self.now.fleet {
            let inFlight = status.workers.reduce(0) { $0 + $1.inFlight.values.reduce(0, +) }
            words += ["\(status.workers.count) workers", "\(inFlight) in flight"]
        }
        return [words.joined(separator: "  ")] + self.problems.map { "! \(Self.shown($0))" }
    }

    private static let outcomes: [(CounterField, String)] = [
        (.received, "received"), (.attempts, "attempts"), (.delivered, "delivered"), (.retried, "retried"),
        (.throttled, "throttled"), (.givenBack, "given back"), (.tokensGone, "tokens gone"),
        (.deadLettered, "dead-lettered"),
    ]

    private func outcomes(_ status: FleetStatus) -> [String] {
        let (new, old) = (status.totals, self.before?.totals ?? [:])
        var table = Table(["what"] + Self.outcomes.map { ">\($0.1)" })
        let counts = Self.outcomes.map { new[$0.0.rawValue] ?? 0 }
        let rates = zip(Self.outcomes, counts).map { row, count in
            Self.text(self.rate(count, old[row.0.rawValue] ?? 0))
        }
        table.add(["per second"] + rates)
        table.add(["ever"] + counts.map { "\($0)" })
        return table.lines()
    }

    /// As many of each as an eye takes in.
    private static let rows = 10

    /// The busiest first, then those where most waits.
    private func lanes(_ status: FleetStatus) -> [String] {
        struct Row {
            let lane: FleetStatus.Lane
            let waiting: Int?
            let inFlight: Int
            let received, delivered, retried, dead: Double?
        }
        let old = Dictionary(
            (self.before?.lanes ?? []).map { ("\($0.lane):\($0.app)", $0) },
            uniquingKeysWith: { $1 }
        )
        let rows = status.lanes.map { lane in
            let earlier = old["\(lane.lane):\(lane.app)"]
            func rate(_ field: CounterField) -> Double? { self.rate(lane[field], earlier?[field] ?? 0) }
            return Row(
                lane: lane,
                waiting: self.waiting(app: lane.app, lane: lane.lane),
                inFlight: self.now.inFlight(app: lane.app, lane: lane.lane),
                received: rate(.received),
                delivered: rate(.delivered),
                retried: rate(.retried),
                dead: rate(.deadLettered)
            )
        }
        let busiest = rows.sorted { left, right in
            let (one, other) = (left.received ?? 0, right.received ?? 0)
            if one != other { return one > other }
            return (left.waiting ?? 0) > (right.waiting ?? 0)
        }
        var table = Table(
            "app",
            "lane",
            ">waiting",
            ">in flight",
            ">received/s",
            ">delivered/s",
            ">retried/s",
            ">dead-lettered/s",
            "paused"
        )
        for row in busiest.prefix(Self.rows) {
            table.add(
                Self.shown(row.lane.app),
                Self.shown(row.lane.lane),
                row.waiting.map { "\($0)" } ?? "-",
                "\(row.inFlight)",
                Self.text(row.received),
                Self.text(row.delivered),
                Self.text(row.retried),
                Self.text(row.dead),
                Self.shown(status.pauses.first { $0.app == row.lane.app }?.cause ?? "")
            )
        }
        return table.isEmpty ? ["Nothing has been counted yet."] : table.lines() + Self.rest(rows.count, "lanes")
    }

    private static func rest(_ count: Int, _ what: String) -> [String] {
        count > Self.rows ? ["... \(count - Self.rows) more \(what)"] : []
    }

    private func waiting(app: String, lane: String) -> Int? {
        self.now.queues?.first { queue in
            guard case .work(let id, let name) = queue.role else { return false }
            return id.name == app && name.rawValue == lane
        }?.depth?.messages
    }

    /// What RabbitMQ alone knows.
    private var queuesAlone: [String] {
        var table = Table("queue", ">messages", ">consumers")
        for queue in self.now.queues ?? [] where queue.depth?.messages ?? 0 > 0 {
            table.add(Self.shown(queue.name), "\(queue.depth?.messages ?? 0)", "\(queue.depth?.consumers ?? 0)")
        }
        return table.isEmpty ? [] : table.lines()
    }

    private func pools(_ status: FleetStatus) -> [String] {
        var table = Table("budget", ">held", ">wanted", ">allowed", "")
        for pool in status.pools.sorted(by: { $0.wanted - $0.held > $1.wanted - $1.held }).prefix(Self.rows) {
            let allowed = pool.budget ?? self.budgets.first { $0.pool == pool.name }?.connections
            table.add(
                Self.shown(pool.name),
                "\(pool.held)",
                "\(pool.wanted)",
                allowed.map { "\($0)" } ?? "-",
                pool.quarantine > .zero ? "nothing new for \(DurationText.spoken(pool.quarantine))" : ""
            )
        }
        return table.isEmpty ? [] : table.lines() + Self.rest(status.pools.count, "budgets")
    }

    private func workers(_ status: FleetStatus) -> [String] {
        guard !status.workers.isEmpty else { return ["No worker is running."] }
        var table = Table("worker", "host", ">connections", ">in flight", "state", ">beat")
        let report = WorkersReport(status)
        for worker in report.workers.sorted(by: { $0.inFlight > $1.inFlight }).prefix(Self.rows) {
            table.add(
                Self.shown(String(worker.id.prefix(8))),
                "\(Self.shown(worker.host)):\(worker.pid)",
                "\(worker.connectionsHeld.values.reduce(0, +))",
                "\(worker.inFlight)",
                worker.state,
                worker.beatAgeMs.map { "\($0 / 1000)s ago" } ?? ""
            )
        }
        return table.lines() + Self.rest(status.workers.count, "workers")
    }

    /// Why requests failed and messages died, the most frequent now first.
    private func reasons(_ status: FleetStatus) -> [String] {
        let fields: [(ReasonField, String)] = [
            (.answered, "Apple said"), (.unanswered, "no answer"), (.deadLettered, "dead-lettered"),
        ]
        struct Row {
            let what, reason: String
            let count: Int64
            let rate: Double?
        }
        var rows: [Row] = []
        for (field, what) in fields {
            let (new, old) = (Self.sum(field, status), self.before.map { Self.sum(field, $0) } ?? [:])
            for (reason, count) in new where count > 0 {
                rows.append(Row(what: what, reason: reason, count: count, rate: self.rate(count, old[reason] ?? 0)))
            }
        }
        rows.sort { left, right in
            let (one, other) = (left.rate ?? 0, right.rate ?? 0)
            if one != other { return one > other }
            return left.count != right.count ? left.count > right.count : left.reason < right.reason
        }
        var table = Table("what", "reason", ">per second", ">ever")
        for row in rows.prefix(Self.rows) {
            table.add(row.what, Self.shown(row.reason), Self.text(row.rate), "\(row.count)")
        }
        return table.isEmpty ? [] : table.lines()
    }

    private static func sum(_ field: ReasonField, _ status: FleetStatus) -> [String: Int64] {
        status.lanes.reduce(into: [:]) { sums, lane in sums.merge(lane[field], uniquingKeysWith: +) }
    }
}
