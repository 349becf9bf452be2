import Push
import Store

@testable import Worker

/// Holds a rule, so that an expectation may change it: the macro takes what it is called on as a constant.
final class Box<Rule> {
    var value: Rule

    init(_ value: Rule) {
        self.value = value
    }
}

extension Box<Pause> {
    var admission: Pause.Admission { self.value.admission }

    func begin(_ cause: Pause.Cause, at now: MonotonicTime) -> Bool { self.value.begin(cause, at: now) }
    func isDue(at now: MonotonicTime) -> Bool { self.value.isDue(at: now) }
    func sent(_ context: UInt64, at now: MonotonicTime) { self.value.sent(context, at: now) }
    func heard(_ evidence: Pause.Evidence, of context: UInt64, at now: MonotonicTime) -> Pause.Change {
        self.value.heard(evidence, of: context, at: now)
    }
}

extension Box<SharedPause> {
    func begin(_ cause: Pause.Cause, at now: MonotonicTime) -> Bool { self.value.begin(cause, at: now) }
    func heard(_ evidence: Pause.Evidence, of context: UInt64, at now: MonotonicTime) -> Pause.Change {
        self.value.heard(evidence, of: context, at: now)
    }
    func order(canProbe: Bool, at now: MonotonicTime) -> PausedApps.Order? {
        self.value.order(canProbe: canProbe, at: now)
    }
    func unanswered(canProbe: Bool, at now: MonotonicTime) -> Bool {
        self.value.unanswered(canProbe: canProbe, at: now)
    }
}

extension Box<HandPause> {
    func heard(_ pause: AppPause?, at now: MonotonicTime) -> SharedPause.Change { self.value.heard(pause, at: now) }
    func isOver(at now: MonotonicTime) -> Bool { self.value.isOver(at: now) }
}

extension Box<SuspectBreaker> {
    func answered(isSuspect: Bool) -> Bool { self.value.answered(isSuspect: isSuspect) }
    func clear() { self.value.clear() }
}

extension Box<OutageCircuit> {
    var pause: Pause { self.value.pause }

    func answered() { self.value.answered() }
    func failed(at now: MonotonicTime) -> Bool { self.value.failed(at: now) }
    func isDue(at now: MonotonicTime) -> Bool { self.value.isDue(at: now) }
    func sent(_ context: UInt64, at now: MonotonicTime) { self.value.sent(context, at: now) }
    func heard(_ evidence: Pause.Evidence, of context: UInt64, at now: MonotonicTime) -> Pause.Change {
        self.value.heard(evidence, of: context, at: now)
    }
}

extension Box<TokenThrottle> {
    func admit(_ token: UInt64, at now: MonotonicTime) -> TokenThrottle.Verdict { self.value.admit(token, at: now) }
    func wait(_ push: SendQueue.Push, for token: UInt64) { self.value.wait(push, for: token) }
    func answered(_ token: UInt64, accepted: Bool) -> [SendQueue.Push] {
        self.value.answered(token, accepted: accepted)
    }
    func rest(_ token: UInt64, until: MonotonicTime) { self.value.rest(token, until: until) }
    func forget(restedBefore time: MonotonicTime) { self.value.forget(restedBefore: time) }
    func takeWaiting() -> [SendQueue.Push] { self.value.takeWaiting() }
}
