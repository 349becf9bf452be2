/// When a failed message is tried again: the App Engine task queue's schedule under its own names.
///
/// For retry n = 1, 2, …, with e = min(n − 1, max_doublings):
///
///     delay = min(min_backoff · 2^e · max(1, n − e), max_backoff)
///
/// The stop rule is stricter than App Engine's: *either* limit ends the retries, and an attempt that would start past
/// the age limit is never scheduled. (App Engine gives up only when both limits are exceeded, and tests the age when
/// an attempt fails, so that its last one may start late.)
package struct RetrySchedule: Equatable, Sendable {
    /// How many different delays one schedule may have: each is a queue.
    package static let distinctDelayLimit = 64

    /// What any of the durations may be at most.
    package static let durationLimit: Duration = .seconds(7 * 24 * 3600)

    package let minBackoff: Duration
    package let maxBackoff: Duration

    /// After so many doublings the delay grows by a constant.
    package let maxDoublings: Int

    /// From the age's start to the start of the last attempt. See ``Admission/ageStart(published:notBefore:now:)``.
    package let ageLimit: Duration

    /// Retries, not counting the first attempt; nil for no limit.
    package let retryLimit: Int?

    private let minMilliseconds: Int64
    private let maxMilliseconds: Int64

    /// 10 s doubling to 10 min, for three hours.
    package static let standard = Self(trusted: 10_000, 600_000, 5, .seconds(10_800), nil)

    private init(trusted min: Int64, _ max: Int64, _ doublings: Int, _ age: Duration, _ retries: Int?) {
        self.minMilliseconds = min
        self.maxMilliseconds = max
        self.minBackoff = .milliseconds(min)
        self.maxBackoff = .milliseconds(max)
        self.maxDoublings = doublings
        self.ageLimit = age
        self.retryLimit = retries
    }

    /// Throws for zero, negative, sub-millisecond, absurd (over seven days) and contradictory settings.
    package init(
        minBackoff: Duration,
        maxBackoff: Duration,
        maxDoublings: Int,
        ageLimit: Duration,
        retryLimit: Int? = nil
    ) throws(SettingFault) {
        for (name, value) in [("min_backoff", minBackoff), ("max_backoff", maxBackoff), ("age_limit", ageLimit)] {
            guard value > .zero else { throw SettingFault(name, "\(name) must be greater than zero.") }
            guard value <= Self.durationLimit else { throw SettingFault(name, "\(name) must be at most 7 days.") }
            guard value == .milliseconds(value.milliseconds) else {
                throw SettingFault(name, "\(name) must be whole milliseconds.")
            }
        }
        guard minBackoff <= maxBackoff else {
            throw SettingFault("min_backoff", "min_backoff must not be greater than max_backoff.")
        }
        guard maxDoublings >= 0 else { throw SettingFault("max_doublings", "max_doublings must not be negative.") }
        if let retryLimit, retryLimit < 0 {
            throw SettingFault("retry_limit", "retry_limit must not be negative; leave it out for no limit.")
        }
        self.init(
            trusted: minBackoff.milliseconds,
            maxBackoff.milliseconds,
            maxDoublings,
            ageLimit,
            retryLimit
        )
        guard self.distinctDelays().count <= Self.distinctDelayLimit else {
            throw SettingFault(
                "max_doublings",
                "max_doublings \(maxDoublings) with this min_backoff and max_backoff makes more than "
                    + "\(Self.distinctDelayLimit) different delays, each a queue; raise max_doublings or min_backoff."
            )
        }
    }

    /// The delay before retry number `retry`, which counts from 1. Without jitter.
    package func delay(beforeRetry retry: Int) -> DelayLevel {
        precondition(retry >= 1, "retries count from 1")
        let doublings = min(retry - 1, self.maxDoublings)
        let factor = Int64(max(1, retry - doublings))
        // The longest delay is below 2^30 ms, so more doublings than that always meet the cap.
        guard doublings < 31 else { return DelayLevel(milliseconds: self.maxMilliseconds) }
        let (grown, overflow) = (Int64(1) << Int64(doublings)).multipliedReportingOverflow(by: factor)
        let (delay, overflowToo) = self.minMilliseconds.multipliedReportingOverflow(by: grown)
        return DelayLevel(
            milliseconds: overflow || overflowToo ? self.maxMilliseconds : min(delay, self.maxMilliseconds)
        )
    }

    /// The different delays a message can meet, shortest first; those that a limit rules out are left out.
    package func distinctDelays() -> [DelayLevel] {
        var levels: [DelayLevel] = []
        var retry = 1
        while self.retryLimit.map({ retry <= $0 }) ?? true {
            let level = self.delay(beforeRetry: retry)
            guard level != levels.last, level.duration <= self.ageLimit else { break }
            levels.append(level)
            guard levels.count <= Self.distinctDelayLimit else { break }
            retry += 1
        }
        return levels
    }

    /// What follows a failed attempt.
    package enum Next: Equatable, Sendable {
        case retry(DelayLevel)
        case stop(DeadLetterReason)
    }

    /// Decides after a failed attempt.
    ///
    /// - Parameters:
    ///   - attempts: attempts made so far that count, the failed one included; at least 1.
    ///   - start: where the age begins.
    ///   - expiresAt: the job's; a retry that could only start at or after it is not scheduled. Zero is no limit.
    ///   - floor: a delay that APNs or the reason asks for; a longer level is used then, the longest if none is.
    ///   - ladder: the levels that exist.
    package func next(
        attempts: Int,
        now: UnixTime,
        start: UnixTime,
        expiresAt: UnixTime? = nil,
        floor: Duration? = nil,
        ladder: DelayLadder
    ) -> Next {
        let retry = max(attempts, 1)
        if let retryLimit, retry > retryLimit { return .stop(.retryLimit) }
        var level = self.delay(beforeRetry: retry)
        if let floor, floor > level.duration { level = ladder.level(atLeast: floor) }
        return self.postponed(to: level, now: now, start: start, expiresAt: expiresAt)
    }

    /// Decides for a message that was not tried and shall wait: no attempt is counted, but its time may run out.
    package func postponed(
        to level: DelayLevel,
        now: UnixTime,
        start: UnixTime,
        expiresAt: UnixTime? = nil
    ) -> Next {
        if let expiresAt, expiresAt.milliseconds > 0, now + level.duration >= expiresAt { return .stop(.expired) }
        // An age that begins in the future would never end.
        guard now + level.duration <= min(start, now) + self.ageLimit else { return .stop(.ageLimit) }
        return .retry(level)
    }
}
