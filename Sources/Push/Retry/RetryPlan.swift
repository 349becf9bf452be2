/// The retries that a schedule gives one message if every attempt fails at once, for `pushfleet schedule`.
package struct RetryPlan: Equatable, Sendable {
    package struct Step: Equatable, Sendable {
        /// Counts from 1.
        package let retry: Int
        package let delay: DelayLevel
        /// When the retry starts at the latest; jitter may start it up to a fifth of the delay sooner.
        package let at: UnixTime
    }

    package let steps: [Step]

    /// What ends the message after the last step; nil if the plan was cut off before.
    package let end: DeadLetterReason?
}

extension RetrySchedule {
    /// The retries that follow a failed attempt.
    ///
    /// - Parameters:
    ///   - attempts: attempts made so far, the failed one included.
    ///   - now: when it failed.
    ///   - start: where the age begins.
    ///   - limit: steps to list at most.
    package func plan(
        attempts: Int = 1,
        now: UnixTime = UnixTime(milliseconds: 0),
        start: UnixTime = UnixTime(milliseconds: 0),
        limit: Int = 1000
    ) -> RetryPlan {
        let ladder = DelayLadder(schedules: [self])
        var steps: [RetryPlan.Step] = []
        var now = now
        while steps.count < limit {
            let made = max(attempts, 1) + steps.count
            switch self.next(attempts: made, now: now, start: start, ladder: ladder) {
            case .stop(let reason): return RetryPlan(steps: steps, end: reason)
            case .retry(let level):
                now = now + level.duration
                steps.append(RetryPlan.Step(retry: made, delay: level, at: now))
            }
        }
        return RetryPlan(steps: steps, end: nil)
    }
}
