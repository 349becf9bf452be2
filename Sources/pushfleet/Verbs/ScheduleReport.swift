internal import Push

/// What `pushfleet schedule` shows.
struct ScheduleReport: Encodable {
    struct Settings: Encodable {
        let minBackoffMs: Int64
        let maxBackoffMs: Int64
        let maxDoublings: Int
        let ageLimitMs: Int64
        let retryLimit: Int?
    }

    struct Retry: Encodable {
        let retry: Int
        let delayMs: Int64
        /// Since the first attempt, if every attempt fails at once.
        let startsAfterMs: Int64
    }

    struct Queue: Encodable {
        let name: String
        let ttlMs: Int64
    }

    let settings: Settings
    let retries: [Retry]
    /// `age_limit` or `retryLimit`; missing if the list was cut off before the end.
    let end: String?
    /// When the retry that is not made would have started; missing with `retryLimit`.
    let nextWouldStartAfterMs: Int64?
    let queues: [Queue]

    init(schedule: RetrySchedule) {
        let plan = schedule.plan()
        self.settings = Settings(
            minBackoffMs: schedule.minBackoff.milliseconds,
            maxBackoffMs: schedule.maxBackoff.milliseconds,
            maxDoublings: schedule.maxDoublings,
            ageLimitMs: schedule.ageLimit.milliseconds,
            retryLimit: schedule.retryLimit
        )
        self.retries = plan.steps.map { step in
            Retry(retry: step.retry, delayMs: step.delay.milliseconds, startsAfterMs: step.at.milliseconds)
        }
        self.end = plan.end?.rawValue
        let last = plan.steps.last?.at.milliseconds ?? 0
        self.nextWouldStartAfterMs =
            plan.end == .ageLimit ? last + schedule.delay(beforeRetry: plan.steps.count + 1).milliseconds : nil
        self.queues = schedule.distinctDelays().map { Queue(name: $0.queueName, ttlMs: $0.milliseconds) }
    }

    func lines() -> [String] {
        var table = Table(">retry", ">delay", ">starts after")
        for retry in self.retries {
            table.add(
                "\(retry.retry)",
                DurationText.format(.milliseconds(retry.delayMs)),
                DurationText.spoken(.milliseconds(retry.startsAfterMs))
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
        let limit = DurationText.format(.milliseconds(self.settings.ageLimitMs))
        let count = self.retries.count
        switch self.end {
        case DeadLetterReason.retryLimit.rawValue:
            return count == 0
                ? "No retry: retry_limit is 0." : "Retry \(count) is the last: retry_limit is \(count)."
        case DeadLetterReason.ageLimit.rawValue:
            let next = DurationText.spoken(.milliseconds(self.nextWouldStartAfterMs ?? 0))
            return count == 0
                ? "No retry: the first would start after \(next), past the age_limit of \(limit)."
                : "Retry \(count) is the last: retry \(count + 1) would start after \(next), past the age_limit of "
                    + "\(limit)."
        default:
            return "The list is cut off after \(count) retries; the age_limit is \(limit)."
        }
    }
}
