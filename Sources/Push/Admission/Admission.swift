/// Whether a message may be sent now. Asked on every delivery, before anything is borrowed for it.
package struct Admission: Equatable, Sendable {
    /// How far ahead `not_before` may lie.
    package static let holdLimit: Duration = .seconds(30 * 24 * 3600)

    /// The app's age limit.
    package let ageLimit: Duration

    package init(ageLimit: Duration) {
        self.ageLimit = ageLimit
    }

    package enum Verdict: Equatable, Sendable {
        case go
        /// `not_before` lies ahead: hold the message in the broker until then.
        case wait(until: UnixTime)
        /// `expired`, `age_limit` or `hold_limit`.
        case refuse(DeadLetterReason)
    }

    /// Decides for a job.
    ///
    /// - Parameters:
    ///   - published: when the message was first seen: the fleet's own header, else the `timestamp` property; nil if
    ///     neither is there, which makes it as old as this delivery.
    ///   - now: the wall clock.
    package func decide(_ job: Job, published: UnixTime?, now: UnixTime) -> Verdict {
        self.decide(expiresAt: job.expiresAt, notBefore: job.notBefore, published: published, now: now)
    }

    /// The same from the bare fields. `expiresAt` zero means "do not store" to Apple and no limit here.
    package func decide(
        expiresAt: UnixTime?,
        notBefore: UnixTime?,
        published: UnixTime?,
        now: UnixTime
    ) -> Verdict {
        let notBefore = notBefore ?? UnixTime(milliseconds: 0)
        if let expiresAt, expiresAt.milliseconds > 0, max(now, notBefore) >= expiresAt { return .refuse(.expired) }
        if notBefore > now {
            return notBefore - now > Self.holdLimit ? .refuse(.holdLimit) : .wait(until: notBefore)
        }
        let age = now - Self.ageStart(published: published, notBefore: notBefore, now: now)
        return age > self.ageLimit ? .refuse(.ageLimit) : .go
    }

    /// Where a message's age begins: at the later of publication and `not_before`, and never in the future, so that a
    /// publisher's fast clock, or milliseconds where seconds belong, buys no extra life.
    package static func ageStart(published: UnixTime?, notBefore: UnixTime?, now: UnixTime) -> UnixTime {
        let start = max(published ?? now, notBefore ?? UnixTime(milliseconds: .min))
        return min(start, now)
    }
}
