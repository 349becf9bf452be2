internal import Synchronization

/// Numbers of this gateway since it started, in Prometheus' text format
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
final class Metrics: Sendable {
    private struct Request: Hashable {
        let action: String
        let code: String
    }

    private struct Numbers {
        var requests: [Request: Int] = [:]
        var durations: [String: DurationHistogram] = [:]
        var publishes: [String: Int] = [:]
        var counts: [Count: Int] = [:]
    }

    /// What is counted without labels.
    enum Count: String, CaseIterable {
        case fanoutJobs = "pushfleet_gateway_fanout_jobs_total"
        case fanoutChunks = "pushfleet_gateway_fanout_chunks_total"
        case fanoutTokens = "pushfleet_gateway_fanout_tokens_total"
        case fanoutDuplicates = "pushfleet_gateway_fanout_duplicates_total"
        case fanoutFiltered = "pushfleet_gateway_fanout_filtered_total"
        case endpointsDisabled = "pushfleet_gateway_endpoints_disabled_total"
        case applicationsDisabled = "pushfleet_gateway_applications_disabled_total"
        case repeatedCalls = "pushfleet_gateway_repeated_calls_total"
        case swept = "pushfleet_gateway_swept_total"
        case redisFailures = "pushfleet_gateway_redis_failures_total"
        case events = "pushfleet_gateway_events_total"
        case webhooksDelivered = "pushfleet_gateway_webhooks_delivered_total"
        case webhooksFailed = "pushfleet_gateway_webhooks_failed_total"
        case webhooksDeadLettered = "pushfleet_gateway_webhooks_dead_lettered_total"
        case webhooksLost = "pushfleet_gateway_webhooks_lost_total"

        var help: String {
            switch self {
            case .fanoutJobs: "Publishes to a topic that were fanned out to the end."
            case .fanoutChunks: "Chunks of endpoints of such publishes, confirmed by the broker."
            case .fanoutTokens: "Tokens in these chunks."
            case .fanoutDuplicates: "Endpoints left out because their token was sent to already."
            case .fanoutFiltered: "Endpoints left out by a filter policy."
            case .endpointsDisabled: "Endpoints disabled because Apple said that their token is gone."
            case .applicationsDisabled: "Applications disabled because Apple refuses their credentials."
            case .repeatedCalls: "Calls that an SDK tried again and that were answered without a second push."
            case .swept: "Endpoints of deleted applications and dangling subscriptions that were cleaned up."
            case .redisFailures: "Calls that failed because Redis did not answer."
            case .events: "Event notifications published."
            case .webhooksDelivered: "Messages that http subscribers have taken, and queues with a redrive policy."
            case .webhooksFailed: "Attempts to deliver to these that failed."
            case .webhooksDeadLettered: "Messages for these that went to a dead-letter queue."
            case .webhooksLost: "Messages for these that were given up without a dead-letter queue."
            }
        }
    }

    private let numbers = Mutex(Numbers())

    /// A request was answered.
    /// - Parameters:
    ///   - action: the SNS action, from the closed set of those that are known.
    ///   - code: `200`, or the error's code.
    func answered(_ action: String, code: String, after duration: Duration) {
        self.numbers.withLock { numbers in
            numbers.requests[Request(action: action, code: code), default: 0] += 1
            numbers.durations[action, default: DurationHistogram()].add(duration)
        }
    }

    func published(_ outcome: Outbox.Outcome) {
        let name =
            switch outcome {
            case .confirmed: "confirmed"
            case .failed: "failed"
            case .unknown: "unknown"
            }
        self.numbers.withLock { $0.publishes[name, default: 0] += 1 }
    }

    func add(_ count: Count, _ number: Int = 1) {
        guard number > 0 else { return }
        self.numbers.withLock { $0.counts[count, default: 0] += number }
    }

    /// What `/metrics` answers.
    var text: String {
        let numbers = self.numbers.withLock { $0 }
        var text = Self.head("pushfleet_gateway_requests_total", "counter", "Requests by SNS action and code.")
        let requests = numbers.requests.sorted { ($0.key.action, $0.key.code) < ($1.key.action, $1.key.code) }
        for (request, count) in requests {
            text += "pushfleet_gateway_requests_total{action=\"\(request.action)\",code=\"\(request.code)\"} \(count)\n"
        }
        let name = "pushfleet_gateway_request_duration_seconds"
        text += Self.head(name, "histogram", "Time from a request's arrival to its answer.")
        for (action, histogram) in numbers.durations.sorted(by: { $0.key < $1.key }) {
            text += histogram.text(name, labels: "action=\"\(action)\"")
        }
        text += Self.head(
            "pushfleet_gateway_publishes_total",
            "counter",
            "Messages published, by what the broker said."
        )
        for (outcome, count) in numbers.publishes.sorted(by: { $0.key < $1.key }) {
            text += "pushfleet_gateway_publishes_total{outcome=\"\(outcome)\"} \(count)\n"
        }
        for count in Count.allCases {
            text += Self.head(count.rawValue, "counter", count.help)
            text += "\(count.rawValue) \(numbers.counts[count] ?? 0)\n"
        }
        return text
    }

    private static func head(_ name: String, _ kind: String, _ help: String) -> String {
        "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }
}
