internal import Push

/// What `pushfleet schedule` shows.
struct ScheduleReport: Encodable {
    struct Settings: Encodable {
        let min_backoff_ms: Int64
        let max_backoff_ms: Int64
        let max_doublings: Int
        let age_limit_ms: Int64
        let retry_limit: Int?
    }

    struct Retry: Encodable {
        let retry: Int
        let delay_ms: Int64
        /// Since the first attempt, if every attempt fails at once.
        let starts_after_ms: Int64
    }

    struct Queue: Encodable {
        let name: String
        let ttl_ms: Int64
    }

    let settings: Settings
    let retries: [Retry]
    /// `age_limit` or `retry_limit`; missing if the list was cut off before the end.
    let end: String?
    /// When the retry that is not made would have started; missing with `retry_limit`.
    let next_would_start_after_ms: Int64?
    let queues: [Queue]

    init(schedule: RetrySchedule) {
        let plan = schedule.plan()
        self.settings = Settings(
            min_backoff_ms: schedule.minBackoff.milliseconds,
            max_backoff_ms: schedule.maxBackoff.milliseconds,
            max_doublings: schedule.maxDoublings,
            age_limit_ms: schedule.ageLimit.milliseconds,
            retry_limit: schedule.retryLimit
        )
        self.retries = plan.steps.map { step in
            Retry(retry: step.retry, delay_ms: step.delay.milliseconds, starts_after_ms: step.at.milliseconds)
        }
        self.end = plan.end?.rawValue
        let last = plan.steps.last?.at.milliseconds ?? 0
        self.next_would_start_after_ms =
            plan.end == .ageLimit ? last + schedule.delay(beforeRetry: plan.steps.count + 1).milliseconds : nil
        self.queues = schedule.distinctDelays().map { Queue(name: $0.queueName, ttl_ms: $0.milliseconds) }
    }

    func lines() -> [String] {
        var table = Table(">retry", ">delay", ">starts after")
        for retry in self.retries {
            table.add(
                "\(retry.retry)",
                DurationText.format(.milliseconds(retry.delay_ms)),
                DurationText.spoken(.milliseconds(retry.starts_after_ms))
            )
        }
        var lines = self.retries.isEmpty ? [] : table.lines() + [""]
        lines += [self.ending, ""]
        lines += Terminal.wrapped(
            "Times count from the first attempt, as if every attempt failed at once. Each wait is cut by up to a "
                + "fifth at random, so that retries do not come all together.",
            indent: 0
        )
        lines += ["", "Delay queues:"]
        lines += self.queues.isEmpty ? ["  none"] : self.queues.map { "  \($0.name)" }
        return lines
    }

    private var ending: String {
        let limit = DurationText.format(.milliseconds(self.settings.age_limit_ms))
        let count = self.retries.count
        switch self.end {
        case DeadLetterReason.retryLimit.rawValue:
            return count == 0
                ? "No retry: retry_limit is 0." : "Retry \(count) is the last: retry_limit is \(count)."
        case DeadLetterReason.ageLimit.rawValue:
            let next = DurationText.spoken(.milliseconds(self.next_would_start_after_ms ?? 0))
            return count == 0
                ? "No retry: the first would start after \(next), past the age_limit of \(limit)."
                : "Retry \(count) is the last: retry \(count + 1) would start after \(next), past the age_limit of "
                    + "\(limit)."
        default:
            return "The list is cut off after \(count) retries; the age_limit is \(limit)."
        }
    }
}
