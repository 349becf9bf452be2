internal import Broker
internal import Desk
internal import Push
internal import Store
internal import WebServer

/// The fleet for Prometheus, by the first part of deploy/prometheus/metrics.md. What is not known is left out.
struct FleetMetrics {
    private let picture: FleetPicture
    private let apps: Set<String>
    private var page = MetricsPage()

    var text: String { self.page.text }

    init(_ picture: FleetPicture, version: String) {
        self.picture = picture
        self.apps = Set(picture.configured.apps.map(\.id))
        self.page.add("pushfleet_build_info", .gauge, 1, ["version": version])
        self.page.add("pushfleet_source_up", .gauge, picture.status == nil ? 0 : 1, ["source": "redis"])
        self.page.add("pushfleet_source_up", .gauge, picture.queues == nil ? 0 : 1, ["source": "rabbitmq"])
        if let status = picture.status {
            self.addCounters(status)
            self.addPauses(status)
            self.addBudgets(status)
            self.addWorkers(status)
        }
        self.addQueues(picture.queues ?? [])
        if let replicas = picture.replicas {
            self.page.add("pushfleet_desired_replicas", .gauge, Double(replicas.desired))
            self.page.add("pushfleet_useful_replicas", .gauge, Double(replicas.useful))
        }
    }

    // MARK: Counters

    private static let counters: [(CounterField, String)] = [
        (.received, "pushfleet_messages_received_total"), (.redelivered, "pushfleet_messages_redelivered_total"),
        (.held, "pushfleet_messages_held_total"), (.attempts, "pushfleet_requests_total"),
        (.suspectTokens, "pushfleet_suspect_tokens_total"),
        (.possibleDuplicates, "pushfleet_possible_duplicates_total"),
        (.alreadyDone, "pushfleet_already_done_total"), (.resent, "pushfleet_resent_total"),
        (.rateLimited, "pushfleet_rate_limited_total"), (.truncated, "pushfleet_truncated_total"),
        (.publishFailures, "pushfleet_publish_failures_total"),
    ]

    private static let outcomes: [(CounterField, String)] = [
        (.delivered, "delivered"), (.tokensGone, "token_gone"), (.givenBack, "given_back"), (.throttled, "throttled"),
    ]

    /// Apps that the configuration does not know are one: what comes in must not make series without end.
    private func name(_ app: String) -> String { self.apps.contains(app) ? app : "other" }

    private mutating func addCounters(_ status: FleetStatus) {
        var sums: [[String]: [String: Int64]] = [:]
        for lane in status.lanes where lane.lane == "now" || lane.lane == "bulk" {
            sums[[self.name(lane.app), lane.lane], default: [:]].merge(lane.fields, uniquingKeysWith: +)
        }
        var byLane: [String: [String: Int64]] = [:]
        for (key, fields) in sums.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            self.add(FleetStatus.Lane(app: key[0], lane: key[1], fields: fields))
            byLane[key[1], default: [:]].merge(fields, uniquingKeysWith: +)
        }
        for (lane, fields) in byLane.sorted(by: { $0.key < $1.key }) {
            let all = FleetStatus.Lane(app: "", lane: lane, fields: fields)
            self.page.add("pushfleet_apns_latency_seconds", all[.apnsLatency], ["lane": lane])
            self.page.add("pushfleet_end_to_end_seconds", all[.endToEnd], ["lane": lane])
            self.page.add("pushfleet_dwell_seconds", all[.dwell], ["lane": lane])
        }
    }

    private mutating func add(_ lane: FleetStatus.Lane) {
        for (field, name) in Self.counters {
            self.page.add(name, .counter, Double(lane[field]), ["app": lane.app, "lane": lane.lane])
        }
        let notifications = "pushfleet_notifications_total"
        for (field, outcome) in Self.outcomes {
            let labels: KeyValuePairs = ["app": lane.app, "lane": lane.lane, "outcome": outcome]
            self.page.add(notifications, .counter, Double(lane[field]), labels)
        }
        for (field, outcome) in [(ReasonField.retried, "retried"), (.deadLettered, "dead_lettered")] {
            for (reason, count) in lane[field].sorted(by: { $0.key < $1.key }) {
                self.page.add(
                    notifications,
                    .counter,
                    Double(count),
                    ["app": lane.app, "lane": lane.lane, "outcome": outcome, "reason": reason]
                )
            }
        }
        for (field, kind) in [(ReasonField.answered, "answered"), (.unanswered, "unanswered")] {
            for (reason, count) in lane[field].sorted(by: { $0.key < $1.key }) {
                self.page.add(
                    "pushfleet_failed_requests_total",
                    .counter,
                    Double(count),
                    ["app": lane.app, "lane": lane.lane, "kind": kind, "reason": reason]
                )
            }
        }
        let app = lane.app
        // These belong to the app, whichever lane's counters hold them: Prometheus takes no series twice.
        for (field, cause) in [
            (CounterField.credentialPauses, "credential"), (.breakerOpened, "suspects"), (.outagePauses, "outage"),
        ] {
            self.page.sum("pushfleet_app_pauses_total", Double(lane[field]), ["app": app, "cause": cause])
        }
        self.page.sum("pushfleet_credential_swaps_total", Double(lane[.credentialSwaps]), ["app": app])
        self.page.sum("pushfleet_credentials_refused_total", Double(lane[.credentialsRefused]), ["app": app])
    }

    // MARK: States

    private mutating func addPauses(_ status: FleetStatus) {
        for pause in status.pauses where self.apps.contains(pause.app) {
            let labels: KeyValuePairs = ["app": pause.app, "cause": pause.cause]
            self.page.add("pushfleet_app_paused", .gauge, 1, labels)
            let since = Double(pause.since.milliseconds) / 1000
            self.page.add("pushfleet_app_paused_since_timestamp_seconds", .gauge, since, labels)
        }
        // Outages are each worker's own: no pause of the fleet says so.
        var outages: [String: UnixTime] = [:]
        for worker in status.workers {
            for (app, cause) in worker.paused where cause == "outage" && self.apps.contains(app) {
                let since = worker.pausedSince[app] ?? status.time
                outages[app] = min(outages[app] ?? since, since)
            }
        }
        let told = Set(status.pauses.filter { $0.cause == "outage" }.map(\.app))
        for (app, since) in outages.sorted(by: { $0.key < $1.key }) where !told.contains(app) {
            let labels: KeyValuePairs = ["app": app, "cause": "outage"]
            self.page.add("pushfleet_app_paused", .gauge, 1, labels)
            let seconds = Double(since.milliseconds) / 1000
            self.page.add("pushfleet_app_paused_since_timestamp_seconds", .gauge, seconds, labels)
        }
        for credential in CredentialReport.all(self.picture) {
            guard let time = credential.expiresAtMs else { continue }
            let name = "pushfleet_credential_expiry_timestamp_seconds"
            self.page.add(name, .gauge, Double(time) / 1000, ["pool": credential.pool])
        }
    }

    private mutating func addBudgets(_ status: FleetStatus) {
        for pool in status.pools {
            let configured = self.picture.configured.credentials.first { $0.pool == pool.name }?.maxConnections
            let labels: KeyValuePairs = ["pool": pool.name]
            func gauge(_ name: String, _ value: Double) {
                self.page.add("pushfleet_budget_\(name)", .gauge, value, labels)
            }
            func counter(_ name: String, _ value: Double) {
                self.page.add("pushfleet_budget_\(name)", .counter, value, labels)
            }
            if let limit = pool.budget ?? configured { gauge("limit_connections", Double(limit)) }
            gauge("held_connections", Double(pool.held))
            gauge("wanted_connections", Double(pool.wanted))
            gauge("quarantine_seconds", Double(pool.quarantine.milliseconds) / 1000)
            counter("granted_total", Double(pool.counts.granted))
            counter("waits_total", Double(pool.counts.waited))
            counter("wait_seconds_total", Double(pool.counts.waitTime.milliseconds) / 1000)
            counter("reclaimed_total", Double(pool.counts.reclaimed))
            counter("overage_total", Double(pool.counts.overage))
        }
    }

    private mutating func addWorkers(_ status: FleetStatus) {
        self.page.add("pushfleet_workers", .gauge, Double(status.workers.count))
        let draining = status.workers.count { $0.isDraining }
        self.page.add("pushfleet_workers_draining", .gauge, Double(draining))
        let inFlight = status.workers.reduce(0) { $0 + $1.inFlight.values.reduce(0, +) }
        self.page.add("pushfleet_workers_in_flight", .gauge, Double(inFlight))
        for worker in status.workers {
            guard let beat = worker.lastBeat else { continue }
            self.page.add(
                "pushfleet_workers_heartbeat_timestamp_seconds",
                .gauge,
                Double(beat.milliseconds) / 1000,
                ["worker": worker.id, "host": worker.host, "version": worker.version]
            )
        }
    }

    private mutating func addQueues(_ queues: [QueueStatus]) {
        for queue in queues {
            guard let depth = queue.depth else { continue }
            var (kind, app, lane) = ("", "", "")
            switch queue.role {
            case .work(let id, let name): (kind, app, lane) = ("work", id.name, name.rawValue)
            case .delay: kind = "delay"
            case .dead: kind = "dead"
            case .feedback: kind = "feedback"
            case .suspect: kind = "suspect"
            case .receipts: kind = "receipts"
            case .unrouted: kind = "unrouted"
            }
            let labels: KeyValuePairs = ["queue": queue.name, "kind": kind, "app": app, "lane": lane]
            self.page.add("pushfleet_queue_messages", .gauge, Double(depth.messages), labels)
            self.page.add("pushfleet_queue_consumers", .gauge, Double(depth.consumers), labels)
            guard let age = depth.messages == 0 ? 0 : self.picture.ages[queue.name] else { continue }
            self.page.add("pushfleet_queue_oldest_age_seconds", .gauge, Double(age) / 1000, labels)
        }
    }
}
