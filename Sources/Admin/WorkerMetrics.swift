internal import APNs
package import Push
internal import Store
internal import WebServer
package import Worker

/// One process for Prometheus, by the second part of deploy/prometheus/metrics.md.
package struct WorkerMetrics {
    private var page = MetricsPage()

    package var text: String { self.page.text }

    /// - Parameter lags: by loop, how late it came to what was due since the last scrape.
    package init(
        _ vitals: [WorkerVitals],
        readiness: Readiness,
        lags: [Duration],
        process: ProcessFigures,
        version: String,
        at now: MonotonicTime
    ) {
        self.page.add("pushfleet_worker_build_info", .gauge, 1, ["version": version])
        self.page.add("pushfleet_worker_ready", .gauge, readiness.isReady ? 1 : 0)
        self.add("in_flight", vitals.reduce(0) { $0 + $1.streams })
        self.add("prefetch", vitals.reduce(0) { $0 + $1.prefetch })
        self.add("outbox_messages", vitals.reduce(0) { $0 + $1.outbox })
        // Loops have connections of their own; one that is missing is what people want to know.
        self.add("redis_up", vitals.allSatisfy(\.isRedisUp) && !vitals.isEmpty ? 1 : 0)
        let isConsuming = vitals.allSatisfy(\.isConsumeConnected) && !vitals.isEmpty
        let isPublishing = vitals.allSatisfy(\.isPublishConnected) && !vitals.isEmpty
        self.add("amqp_up", isConsuming ? 1 : 0, ["connection": "consume"])
        self.add("amqp_up", isPublishing ? 1 : 0, ["connection": "publish"])
        self.add("amqp_blocked", vitals.contains(where: \.isBlocked) ? 1 : 0, ["connection": "publish"])
        self.addLanes(vitals)
        self.addPools(vitals, at: now)
        for (index, lag) in lags.enumerated() {
            let seconds = Double(lag.milliseconds) / 1000
            self.page.add("pushfleet_worker_loop_lag_seconds", .gauge, seconds, ["loop": "\(index + 1)"])
        }
        self.add(process)
    }

    private mutating func add(_ name: String, _ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
        self.page.add("pushfleet_worker_\(name)", .gauge, Double(value), labels)
    }

    private static let outcomes: [(CounterField, String)] = [
        (.delivered, "delivered"), (.deadLettered, "dead_lettered"), (.tokensGone, "token_gone"),
        (.retried, "retried"), (.givenBack, "given_back"), (.throttled, "throttled"),
    ]

    private mutating func addLanes(_ vitals: [WorkerVitals]) {
        var sums: [String: [String: Int64]] = [:]
        for lane in vitals.flatMap(\.lanes) where lane.lane == "now" || lane.lane == "bulk" {
            sums[lane.lane, default: [:]].merge(lane.fields, uniquingKeysWith: +)
        }
        for (name, fields) in sums.sorted(by: { $0.key < $1.key }) {
            let lane = FleetStatus.Lane(app: "", lane: name, fields: fields)
            for (field, outcome) in Self.outcomes {
                self.page.add(
                    "pushfleet_worker_notifications_total",
                    .counter,
                    Double(lane[field]),
                    ["lane": name, "outcome": outcome]
                )
            }
            let latency = lane[.apnsLatency]
            self.page.add(
                "pushfleet_worker_apns_latency_seconds",
                bounds: latency.bounds,
                counts: latency.counts,
                count: latency.count,
                sum: latency.sum,
                ["lane": name]
            )
        }
    }

    private mutating func addConnections(_ name: String, _ counts: [[String: Int]], _ pool: String, by label: String) {
        let sums = counts.reduce(into: [String: Int]()) { $0.merge($1, uniquingKeysWith: +) }
        for entry in sums.sorted(by: { $0.key < $1.key }) {
            let labels: KeyValuePairs = ["pool": pool, label: entry.key]
            self.page.add("pushfleet_worker_connections_\(name)_total", .counter, Double(entry.value), labels)
        }
    }

    /// Loops share budgets but have leases of their own, which are added up; of their ends the first one counts.
    private mutating func addPools(_ vitals: [WorkerVitals], at now: MonotonicTime) {
        let all = Dictionary(grouping: vitals.flatMap(\.pools), by: \.name)
        for (name, pools) in all.sorted(by: { $0.key < $1.key }) {
            self.add("connections", pools.reduce(0) { $0 + $1.held }, ["pool": name])
            self.add("streams", pools.reduce(0) { $0 + $1.streams }, ["pool": name])
            self.add("stream_limit", pools.reduce(0) { $0 + $1.streamLimit }, ["pool": name])
            self.add("lease_connections", pools.reduce(0) { $0 + $1.allowed }, ["pool": name])
            self.addConnections("opened", pools.map(\.tally.opened), name, by: "result")
            self.addConnections("closed", pools.map(\.tally.closed), name, by: "reason")
            for (result, count) in [
                ("ok", pools.reduce(0) { $0 + $1.renewals }), ("failed", pools.reduce(0) { $0 + $1.failedRenewals }),
            ] {
                self.page.add(
                    "pushfleet_worker_lease_renewals_total",
                    .counter,
                    Double(count),
                    ["pool": name, "result": result]
                )
            }
            guard let end = pools.compactMap(\.leaseEnds).min() else { continue }
            let seconds = max(0, Double((end - now).milliseconds) / 1000)
            self.page.add("pushfleet_worker_lease_remaining_seconds", .gauge, seconds, ["pool": name])
        }
    }

    private mutating func add(_ process: ProcessFigures) {
        self.page.add("process_start_time_seconds", .gauge, Double(process.startedAt.milliseconds) / 1000)
        self.page.add("process_cpu_seconds_total", .counter, Double(process.cpuTime.milliseconds) / 1000)
        self.page.add("process_resident_memory_bytes", .gauge, Double(process.residentBytes))
        self.page.add("process_open_fds", .gauge, Double(process.openFiles))
        self.page.add("process_max_fds", .gauge, Double(process.maximumFiles))
    }
}
