import Push

@testable import Store

/// The budget script in Swift, rule by rule, so that many lives of a fleet can be run without a Redis. A test sends the
/// same random histories through this and through the script.
///
/// Times are the server's, in milliseconds.
struct BudgetModel {
    struct Member: Equatable {
        let id: String
        var grant = 0
        var open = 0
        var want = 0
        var seq: Int64 = 0
        var expires = 0
        var ran = 0
        var since = 0
        var hungry = 0
        var budget = 0
        var share = 0
    }

    struct Meta: Equatable {
        var run: String
        var last: Int
        var quarantine: Int
    }

    private(set) var members: [Member] = []
    private(set) var meta: Meta?
    private(set) var counts = FleetStatus.Pool.Counts()
    /// A rule that is taken away.
    var bug: SeededBug?

    /// Connections that are counted as somebody's.
    var granted: Int { self.members.reduce(0) { $0 + $1.grant } }

    /// An operator's word that no worker is running.
    mutating func initialize(runID: String, now: Int) {
        guard self.meta == nil, self.members.isEmpty else { return }
        self.meta = Meta(run: runID, last: now, quarantine: 0)
    }

    mutating func renew(
        _ request: RenewRequest,
        as id: String,
        runID: String,
        budget: Int,
        settings: LeaseSettings,
        now: Int
    ) -> LeaseAnswer? {
        let ttl = Int(settings.ttl.milliseconds)
        let known = self.members.firstIndex { $0.id == id }
        if let known, request.seq <= self.members[known].seq { return nil }  // R5
        self.settleTime(request, known, runID: runID, settings, now: now)
        for member in self.members where member.expires <= now { self.counts.reclaimed += member.grant }
        self.members.removeAll { $0.expires <= now }

        let me: Int
        if let index = self.members.firstIndex(where: { $0.id == id }) {
            me = index
        } else {
            self.members.append(Member(id: id))
            me = self.members.count - 1
        }
        self.members[me].open = request.open
        self.members[me].want = request.want
        self.members[me].seq = request.seq
        self.members[me].budget = budget
        self.members[me].expires = now + ttl
        self.members[me].ran = now
        if request.want == 0 || self.members[me].grant > 0 {
            self.members[me].hungry = 0
        } else if self.members[me].hungry == 0 {
            self.members[me].hungry = now
        }
        let counted = self.members.filter { $0.grant > 0 || $0.want > 0 }
        let budget = counted.reduce(budget) { min($0, $1.budget) }
        self.share(budget, quantum: Int(settings.quantum.milliseconds), now: now)
        return self.grant(to: me, request, budget: budget, members: counted.count, ttl: settings.ttl, now: now)
    }

    mutating func release(seq: Int64, as id: String) -> Bool {
        guard let index = self.members.firstIndex(where: { $0.id == id }), seq > self.members[index].seq else {
            return false
        }
        let old = self.members[index]
        self.members[index] = Member(id: id, seq: seq, expires: old.expires, ran: old.ran)
        return true
    }

    // MARK: Rules

    /// R1 to R4.
    private mutating func settleTime(
        _ request: RenewRequest,
        _ known: Int?,
        runID: String,
        _ settings: LeaseSettings,
        now: Int
    ) {
        let ttl = Int(settings.ttl.milliseconds)
        let quarantine = self.bug == .noQuarantine ? 0 : now + ttl
        guard let meta = self.meta else {
            self.meta = Meta(run: runID, last: now, quarantine: quarantine)  // R1
            return
        }
        if meta.run != runID {
            self.move(by: now - meta.last)
            for index in self.members.indices { self.members[index].expires = now + ttl }
            self.meta?.run = runID
            self.meta?.quarantine = quarantine  // R1
        } else if now < meta.last {
            self.move(by: now - meta.last)  // R2
        } else if let known, let proof = request.proof, proof.base > 0, proof.base == self.members[known].seq {
            let jump = now - self.members[known].ran - Int(proof.elapsed.milliseconds)
            if jump > settings.slack.milliseconds { self.move(by: jump) }  // R3
        } else if now - meta.last > settings.silence.milliseconds {
            let id = known.map { self.members[$0].id }
            // In a quarantine leases may run that nobody has claimed yet.
            let mayRun = meta.quarantine > meta.last && self.bug != .jumpEndsQuarantine
            if mayRun || self.members.contains(where: { $0.id != id && $0.grant > 0 }) {
                self.meta?.quarantine = quarantine  // R4
            }
        }
        self.meta?.last = now
    }

    private mutating func move(by time: Int) {
        for index in self.members.indices {
            self.members[index].expires += time
            self.members[index].ran += time
            if self.members[index].since > 0 { self.members[index].since = max(1, self.members[index].since + time) }
            if self.members[index].hungry > 0 {
                self.members[index].hungry = max(1, self.members[index].hungry + time)
            }
        }
        if let end = self.meta?.quarantine, end > 0 { self.meta?.quarantine = max(0, end + time) }
    }

    /// Max-min shares, and turns where they do not go round.
    private mutating func share(_ budget: Int, quantum: Int, now: Int) {
        for index in self.members.indices { self.members[index].share = 0 }
        let wanting = self.members.indices.filter { self.members[$0].want > 0 }.sorted {
            let (left, right) = (self.members[$0], self.members[$1])
            return (left.want, left.id) < (right.want, right.id)
        }
        var rest = budget
        var level = 0
        var above: [Int] = []
        for (position, index) in wanting.enumerated() {
            let fair = rest / (wanting.count - position)
            if above.isEmpty, self.members[index].want <= fair {
                self.members[index].share = self.members[index].want
                rest -= self.members[index].want
            } else {
                if above.isEmpty { level = fair }
                above.append(index)
            }
        }
        let ranks = self.members.map { self.rank($0, level: level, quantum: quantum, now: now) }
        above.sort { left, right in
            (ranks[left].0, ranks[left].1, self.members[left].id) < (
                ranks[right].0, ranks[right].1, self.members[right].id
            )
        }
        rest -= level * above.count
        for (position, index) in above.enumerated() {
            self.members[index].share = position < rest ? level + 1 : level
        }
    }

    private func rank(_ member: Member, level: Int, quantum: Int, now: Int) -> (Int, Int) {
        if level > 0 || self.bug == .noTurns { return (-member.grant, 0) }
        if member.grant > 0 { return now - member.since < quantum ? (1, member.since) : (3, -member.since) }
        return now - member.hungry >= quantum ? (2, member.hungry) : (4, member.hungry)
    }

    /// R6 to R8.
    private mutating func grant(
        to me: Int,
        _ request: RenewRequest,
        budget: Int,
        members: Int,
        ttl: Duration,
        now: Int
    ) -> LeaseAnswer {
        let (before, hungry) = (self.members[me].grant, self.members[me].hungry)
        let held = self.granted - before
        var target = self.members[me].share
        let quarantine = max(0, (self.meta?.quarantine ?? 0) - now)
        if quarantine > 0 {
            self.members[me].grant = max(request.open, request.claim)
            target = min(target, request.claim)
        } else {
            let free = self.bug == .grantIgnoresOthers ? budget : max(0, budget - held)
            self.members[me].grant = max(request.open, min(target, free))
            self.counts.overage += max(0, request.open - before)
            let more = max(0, self.members[me].grant - max(request.open, before))
            self.counts.granted += more
            if more > 0, hungry > 0, hungry < now {
                self.counts.waited += 1
                self.counts.waitTime += .milliseconds(now - hungry)
            }
        }
        if self.members[me].grant > 0 {
            self.members[me].hungry = 0
            if self.members[me].since == 0 { self.members[me].since = now }
        } else {
            self.members[me].since = 0
            if request.want > 0, self.members[me].hungry == 0 { self.members[me].hungry = now }
        }
        return LeaseAnswer(
            grant: self.members[me].grant,
            target: target,
            quarantine: .milliseconds(quarantine),
            ttl: ttl,
            held: held + self.members[me].grant,
            wanted: self.members.reduce(0) { $0 + $1.want },
            members: members,
            budget: budget
        )
    }
}
