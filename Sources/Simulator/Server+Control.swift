internal import Push

/// What whoever tests with it asks and orders.
extension Server {
    /// What it has seen, in numbers.
    var summary: LedgerSummary {
        self.noteTraffic()
        return self.service.summary
    }

    func connectionRecords(limit: Int) -> [ConnectionRecord] {
        self.noteTraffic()
        return self.service.connectionRecords(limit: limit)
    }

    private func noteTraffic() {
        for (place, session) in self.sessions.enumerated() {
            if let session { self.service.note(session.traffic, on: place) }
        }
    }

    func addRule(_ rule: FaultRule) -> String? {
        self.service.addRule(rule, at: self.moment.monotonic)
    }

    /// Why a rule cannot be used here, though it reads well.
    func problem(with rule: FaultRule) -> BadField? {
        guard case .handshake(let form) = rule.action, let name = form.certificate,
            !self.certificates.names.contains(name)
        else { return nil }
        let known = self.certificates.names.joined(separator: ", ")
        return BadField(
            field: "action.certificate",
            problem: known.isEmpty ? "names a certificate, and none were given" : "must be one of \(known)"
        )
    }

    /// Open connections take note of another policy.
    func policyHasChanged() {
        for session in self.sessions { session?.watchIdleness() }
    }

    func setStreams(initial: UInt32?, full: UInt32?, dropsAfterRejection: Bool?) {
        var streams = self.service.streams
        if let initial { streams.initial = initial }
        if let full { streams.full = full }
        if let dropsAfterRejection { streams.dropsAfterRejection = dropsAfterRejection }
        self.announce(self.service.setStreams(streams))
    }

    func reset() {
        self.announce(self.service.reset())
        self.changeClock { clock, real in
            clock.resume(at: real)
            if self.settings.clockScale != 1 { clock.run(at: self.settings.clockScale, from: real) }
        }
        self.overflow = self.settings.overflow
        self.windows = self.settings.windows
        self.policyHasChanged()
        self.listens = true
        if self.run != nil { self.changeClock { clock, real in clock.resume(at: real) } }
        self.startOver()
    }

    private func announce(_ changes: [(place: Int, limit: UInt32)]) {
        for change in changes { self.sessions[change.place]?.announce(change.limit) }
    }

    /// - Returns: how many connections there were.
    func goAwayAll(code: UInt32, debugData: String, lastStream: FaultRule.LastStream) -> Int {
        self.goAwayAll(Farewell(code: code, debugData: Array(debugData.utf8), lastStream: lastStream))
    }

    /// - Returns: how many connections there were.
    func goAwayAll(_ farewell: Farewell) -> Int {
        let open = self.sessions.compactMap { $0 }
        for session in open {
            self.sayGoAway(session, farewell, lastStream: farewell.lastStream.number(for: session.newestStream))
            session.closeIfDone()
        }
        return open.count
    }

    /// - Returns: how many connections there were.
    func dropAll() -> Int {
        let open = self.sessions.compactMap { $0 }
        for session in open { session.end(withReset: true, ending: "dropped on request") }
        return open.count
    }
}
