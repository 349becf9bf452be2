internal import Push

/// What stops one app, both of its lanes: pauses, by app or by topic, and the breaker that watches suspect answers.
final class AppGate {
    /// For what Apple answers; the fleet's, as far as Redis is there.
    var pause = SharedPause()
    /// By an operator.
    var hand = HandPause()
    /// Whether an order about it is on its way to Redis; there is one at a time.
    var isAsking = false
    /// Topics that the credential may not push to, while the app's others go on. Almost always empty.
    var topics: [[UInt8]: Pause] = [:]
    /// Refusals that are not believed yet, by topic; under no topic those that concern all. Almost always empty.
    var doubts: [[UInt8]: CredentialDoubt] = [:]
    var breaker: SuspectBreaker
    /// Nil if the app's rate is not limited.
    var rate: AppRate?
    /// Answers that the breaker was too young to judge and the fleet has not heard of yet.
    var early: (suspects: Int, answers: Int) = (0, 0)

    init(_ settings: BreakerSettings) {
        self.breaker = SuspectBreaker(window: settings.window, threshold: settings.threshold)
    }

    /// What Apple refused is not in use any more: pauses end with a probe at once.
    func credentialChanged(at now: MonotonicTime) {
        self.pause.credentialChanged(at: now)
        for topic in self.topics.keys { self.topics[topic]?.credentialChanged(at: now) }
        self.doubts.removeAll()
    }

    /// The app has changed: what its pauses are about may be mended, and the breaker begins anew if it has changed.
    func appChanged(from old: AppSettings, to new: AppSettings, at now: MonotonicTime) {
        if new.breaker != old.breaker {
            self.breaker = SuspectBreaker(window: new.breaker.window, threshold: new.breaker.threshold)
        }
        if new.credential != old.credential || new.bundleID != old.bundleID { self.credentialChanged(at: now) }
    }

    /// Apple took a push to this topic.
    func accepted(_ topic: [UInt8], sentAt time: MonotonicTime) {
        for key in [[], topic] where self.doubts[key]?.accepted(sentAt: time) == true { self.doubts[key] = nil }
    }

    /// Why nothing goes, if one of its own pauses is the reason.
    var cause: Pause.Cause? { self.pause.cause }
}

/// What stops all apps of one credential.
final class CredentialGate {
    var circuit = OutageCircuit()
}
