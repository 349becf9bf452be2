import Push
import Testing

@testable import Store

/// A class because the macros of expectations call no mutating member of a value.
@Suite final class LeaseTests {
    private let settings = LeaseSettings.standard
    private var lease: Lease
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    init() {
        self.lease = Lease(settings: .standard, id: InstanceID(), now: Self.start)
    }

    private func at(_ seconds: Double) -> MonotonicTime {
        Self.start + .milliseconds(Int64(seconds * 1000))
    }

    private func answer(_ grant: Int, target: Int? = nil, quarantine: Duration = .zero) -> LeaseAnswer {
        LeaseAnswer(grant: grant, target: target ?? grant, quarantine: quarantine, ttl: self.settings.ttl)
    }

    private func renewDue(open: Int, want: Int, now: MonotonicTime) -> RenewRequest? {
        self.lease.renewDue(open: open, want: want, now: now)
    }

    @discardableResult
    private func answered(_ seq: Int64, _ answer: LeaseAnswer, now: MonotonicTime) -> Bool {
        self.lease.answered(seq, answer, now: now)
    }

    private func release() -> Int64 { self.lease.release() }

    private func ignored(_ seq: Int64) -> Bool { self.lease.ignored(seq) }

    /// Renews at `seconds` and gets the answer at once.
    private func hold(_ grant: Int, open: Int = 0, at seconds: Double = 0) throws {
        let request = try #require(self.renewDue(open: open, want: 9, now: self.at(seconds)))
        #expect(self.answered(request.seq, self.answer(grant), now: self.at(seconds)))
    }

    @Test func `Nothing is allowed before the first answer`() throws {
        #expect(!self.lease.isValid(now: self.at(0)))
        #expect(!self.lease.mayOpen(open: 0, now: self.at(0)))
        let request = try #require(self.renewDue(open: 0, want: 4, now: self.at(0)))
        #expect(request == RenewRequest(seq: 1, open: 0, want: 4, claim: 0, proof: nil))
        #expect(!self.lease.mayOpen(open: 0, now: self.at(0)))
        self.answered(1, self.answer(3, target: 2), now: self.at(0.1))
        #expect(self.lease.limit(now: self.at(0.1)) == 2)
        #expect(self.lease.mayOpen(open: 1, now: self.at(0.1)))
        #expect(!self.lease.mayOpen(open: 2, now: self.at(0.1)))
        #expect(self.lease.excess(open: 3, now: self.at(0.1)) == 1)
    }

    @Test func `A lease counts from the sending, however late its answer`() throws {
        let request = try #require(self.renewDue(open: 0, want: 4, now: self.at(0)))
        self.answered(request.seq, self.answer(3), now: self.at(10))
        // 20 s less a margin of 8.5 s.
        #expect(self.lease.deadline == self.at(11.5))
        #expect(self.lease.isValid(now: self.at(11.499)))
        #expect(!self.lease.isValid(now: self.at(11.5)))
        #expect(self.lease.excess(open: 3, now: self.at(11.5)) == 3)
        #expect(!self.lease.mayOpen(open: 0, now: self.at(11.5)))
    }

    @Test func `An answer that comes after its own deadline gives nothing`() throws {
        let request = try #require(self.renewDue(open: 0, want: 4, now: self.at(0)))
        self.answered(request.seq, self.answer(3), now: self.at(12))
        #expect(!self.lease.isValid(now: self.at(12)))
        #expect(self.lease.deadline == nil)
    }

    @Test func `When a lease has ended, the answer to a renewal sent before revives nothing`() throws {
        try self.hold(3)
        let late = try #require(self.renewDue(open: 3, want: 9, now: self.at(11)))
        // The first lease ended at 11.5 s; the renewal alone would allow use until 22.5 s.
        #expect(!self.answered(late.seq, self.answer(3), now: self.at(12)))
        #expect(!self.lease.isValid(now: self.at(12)))
        let next = try #require(self.renewDue(open: 0, want: 9, now: self.at(15)))
        #expect(next.claim == 0)
    }

    @Test func `While a renewal has no answer nothing is opened beyond what was open when it was sent`() throws {
        try self.hold(5)
        #expect(self.lease.mayOpen(open: 2, now: self.at(1)))
        let request = try #require(self.renewDue(open: 2, want: 9, now: self.at(4)))
        #expect(request.claim == 5)
        #expect(!self.lease.mayOpen(open: 2, now: self.at(4)))
        #expect(self.lease.mayOpen(open: 1, now: self.at(4)))
        #expect(self.lease.excess(open: 2, now: self.at(4)) == 0)
        self.answered(request.seq, self.answer(5), now: self.at(4.1))
        #expect(self.lease.mayOpen(open: 4, now: self.at(4.1)))
    }

    @Test func `A claim counts renewals without an answer as if they had shrunk the grant`() throws {
        try self.hold(5)
        let lost = try #require(self.renewDue(open: 2, want: 9, now: self.at(4)))
        self.lease.failed(lost.seq, mayHaveRun: true)
        #expect(!self.lease.mayOpen(open: 2, now: self.at(5)))
        let second = try #require(self.renewDue(open: 1, want: 9, now: self.at(8)))
        #expect(second.claim == 2)
        #expect(!self.lease.mayOpen(open: 1, now: self.at(8)))
        // No failure reported: the next one is sent over it.
        let third = try #require(self.renewDue(open: 1, want: 9, now: self.at(11.4)))
        #expect(third.claim == 1)
        #expect(!self.answered(second.seq, self.answer(5), now: self.at(11.41)))
        #expect(self.answered(third.seq, self.answer(4), now: self.at(11.42)))
        #expect(self.lease.mayOpen(open: 3, now: self.at(11.42)))
    }

    @Test func `A renewal that never left takes nothing away`() throws {
        try self.hold(5)
        let unsent = try #require(self.renewDue(open: 2, want: 9, now: self.at(4)))
        self.lease.failed(unsent.seq, mayHaveRun: false)
        #expect(self.lease.mayOpen(open: 4, now: self.at(4)))
    }

    @Test func `Proof of the time that passed is given only by a quick answer`() throws {
        let first = try #require(self.renewDue(open: 0, want: 4, now: self.at(0)))
        self.answered(first.seq, self.answer(3), now: self.at(1.2))
        let second = try #require(self.renewDue(open: 0, want: 4, now: self.at(4)))
        #expect(second.proof == nil)
        self.answered(second.seq, self.answer(3), now: self.at(4.9))
        let third = try #require(self.renewDue(open: 0, want: 4, now: self.at(8)))
        #expect(third.proof == RenewRequest.Proof(base: second.seq, elapsed: .seconds(4)))
    }

    @Test func `Renewals come with the heartbeat, and at once when there is news`() throws {
        try self.hold(3)
        #expect(self.renewDue(open: 3, want: 9, now: self.at(2.6)) == nil)
        let wake = self.lease.wakeTime(open: 3, want: 9, now: self.at(0))
        #expect(wake >= self.at(2.7) && wake <= self.at(3.3))
        #expect(self.lease.wakeTime(open: 3, want: 4, now: self.at(0)) == self.at(0.25))
        #expect(self.renewDue(open: 3, want: 4, now: self.at(0.2)) == nil)
        #expect(self.renewDue(open: 3, want: 4, now: self.at(0.3)) != nil)
    }

    @Test func `A closed connection is reported at once if others wait`() throws {
        let request = try #require(self.renewDue(open: 3, want: 3, now: self.at(0)))
        self.answered(request.seq, self.answer(3, target: 1), now: self.at(0))
        #expect(self.renewDue(open: 2, want: 3, now: self.at(0.3)) != nil)
    }

    @Test func `The deadline wakes even when nothing else does`() throws {
        try self.hold(3)
        let request = try #require(self.renewDue(open: 3, want: 9, now: self.at(9)))
        self.lease.failed(request.seq, mayHaveRun: true)
        #expect(self.lease.wakeTime(open: 3, want: 9, now: self.at(9)) == self.at(11.5))
        // Once it has passed it must not ask to be woken in the past.
        #expect(self.lease.wakeTime(open: 3, want: 9, now: self.at(11.5)) > self.at(11.5))
    }

    @Test func `A released lease stays released`() throws {
        try self.hold(3)
        #expect(self.release() == 2)
        #expect(!self.lease.isValid(now: self.at(0)))
        #expect(self.renewDue(open: 0, want: 9, now: self.at(20)) == nil)
        #expect(self.lease.wakeTime(open: 0, want: 9, now: self.at(20)) == .distantFuture)
    }

    @Test func `Whose newest renewal is ignored has a twin, and everything it has is over`() throws {
        try self.hold(3)
        let request = try #require(self.renewDue(open: 3, want: 9, now: self.at(4)))
        #expect(self.ignored(request.seq))
        #expect(!self.lease.isValid(now: self.at(4)) && self.lease.deadline == nil)
        #expect(self.lease.excess(open: 3, now: self.at(4)) == 3)
        #expect(!self.lease.mayOpen(open: 0, now: self.at(4)))
        #expect(self.renewDue(open: 0, want: 9, now: self.at(30)) == nil, "it goes on under another id")
        #expect(!self.ignored(request.seq), "told once")
    }

    @Test func `An older renewal that is ignored was overtaken by a newer one, which proves no twin`() throws {
        try self.hold(5)
        let late = try #require(self.renewDue(open: 2, want: 9, now: self.at(4)))
        let newest = try #require(self.renewDue(open: 2, want: 9, now: self.at(8)))
        #expect(!self.ignored(late.seq))
        #expect(self.lease.isValid(now: self.at(8)))
        #expect(self.answered(newest.seq, self.answer(5), now: self.at(8)))
        #expect(self.lease.mayOpen(open: 4, now: self.at(8)))
    }

    @Test func `A twin is noticed also after the lease has ended, and not after a release`() throws {
        try self.hold(3)
        let request = try #require(self.renewDue(open: 3, want: 9, now: self.at(11)))
        #expect(!self.lease.isValid(now: self.at(12)))
        #expect(self.ignored(request.seq))
        var released = Lease(settings: .standard, id: InstanceID(), now: Self.start)
        let last = released.renewDue(open: 0, want: 1, now: self.at(0))
        _ = released.release()
        #expect(!released.ignored(try #require(last).seq))
    }

    @Test func `Settings that leave no time are refused`() throws {
        #expect(throws: LeaseSettingsError.ttlTooShort(minimum: .seconds(18))) {
            try LeaseSettings(ttl: .seconds(17))
        }
        #expect(throws: LeaseSettingsError.heartbeatTooShort) { try LeaseSettings(heartbeat: .milliseconds(99)) }
        #expect(LeaseSettings.standard.margin == .milliseconds(8_500))
        let short = try LeaseSettings(ttl: .seconds(6), heartbeat: .seconds(1))
        #expect(short.ttl - short.margin > short.heartbeat * 3)
    }
}
