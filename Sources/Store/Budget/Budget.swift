internal import Push

/// A worker's heartbeat to a budget pool.
package struct RenewRequest: Hashable, Sendable {
    /// Grows with every request of one worker.
    package let seq: Int64
    /// Connections that are open, being opened or being closed.
    package let open: Int
    /// Connections that the worker could use.
    package let want: Int
    /// Connections that the worker may still hold by leases that run.
    package let claim: Int
    /// The request whose answer the worker knows, and its own time from sending that one to sending this: lets Redis see
    /// that its clock jumped. Nil when the answer took too long to prove anything.
    package let proof: Proof?

    package struct Proof: Hashable, Sendable {
        package let base: Int64
        package let elapsed: Duration
    }
}

/// What the budget script answers.
package struct LeaseAnswer: Hashable, Sendable {
    /// Connections that Redis counts as this worker's.
    package let grant: Int
    /// Where the grant should go: a worker above closes connections.
    package let target: Int
    /// How long nothing will grow; zero in ordinary times.
    package let quarantine: Duration
    /// How long Redis keeps the grant, from when the script ran.
    package let ttl: Duration
    /// The pool as a whole: connections granted and wanted, workers, and the budget in force.
    package let held: Int
    package let wanted: Int
    package let members: Int
    package let budget: Int

    /// How many connections the worker may have.
    package var limit: Int { min(self.grant, self.target) }

    /// Whether the script ignored the request, because it has seen a newer one of this worker.
    static func isIgnored(_ reply: RedisReply) -> Bool {
        guard let numbers = reply.elements?.map(\.integer), numbers.count == 9 else { return false }
        return numbers.allSatisfy { $0 == 0 }
    }

    /// Nil when the script ignored the request, because it has seen a newer one.
    init?(_ reply: RedisReply) {
        guard let numbers = reply.elements?.map(\.integer), numbers.count == 9, numbers[0] == 1 else { return nil }
        let values = numbers.compactMap { $0 }
        guard values.count == 9, values.allSatisfy({ $0 >= 0 }) else { return nil }
        self.init(
            grant: Int(values[1]),
            target: Int(values[2]),
            quarantine: .milliseconds(values[3]),
            ttl: .milliseconds(values[4]),
            held: Int(values[5]),
            wanted: Int(values[6]),
            members: Int(values[7]),
            budget: Int(values[8])
        )
    }

    init(
        grant: Int,
        target: Int,
        quarantine: Duration = .zero,
        ttl: Duration,
        held: Int = 0,
        wanted: Int = 0,
        members: Int = 1,
        budget: Int = 0
    ) {
        self.grant = grant
        self.target = target
        self.quarantine = quarantine
        self.ttl = ttl
        self.held = held
        self.wanted = wanted
        self.members = members
        self.budget = budget
    }
}

/// One pool of connections that a fleet shares.
package struct Budget: Hashable, Sendable {
    /// Names the credential, such as `production.TEAM123456.KEY1234567`.
    package let pool: String
    /// How many connections all workers together may have. While workers carry different numbers, the smallest counts.
    package let connections: Int

    package init(pool: String, connections: Int) {
        self.pool = pool
        self.connections = connections
    }

    /// Declares that no worker is running, for a pool that Redis does not know yet: without it the first workers wait for
    /// one lease time, since an empty Redis may be one that has lost its data. A pool that is known is left alone.
    ///
    /// Answers 1 if the pool is new. Only for an operator's explicit act, never for a worker.
    /// - Parameter server: the process the call is sent to.
    package func initialize(on server: RedisServer) -> ScriptCall {
        var call = ScriptCall(BudgetScript.initialize, keys: [Keys.budget(pool: self.pool)])
        call.add(server.runID)
        call.add(milliseconds: Keys.budgetLife)
        return call
    }

    func renew(
        _ request: RenewRequest,
        as id: InstanceID,
        runID: String,
        settings: LeaseSettings,
        script: Script = BudgetScript.renew
    ) -> ScriptCall {
        var call = ScriptCall(script, keys: [Keys.budget(pool: self.pool)])
        call.add(id.description)
        call.add(request.seq)
        call.add(runID)
        for time in [settings.ttl, settings.silence, settings.slack, settings.quantum] { call.add(milliseconds: time) }
        for number in [self.connections, request.open, request.want, request.claim] { call.add(number) }
        call.add(request.proof?.base ?? 0)
        call.add(milliseconds: request.proof?.elapsed ?? .zero)
        call.add(milliseconds: Keys.budgetLife)
        return call
    }

    func release(seq: Int64, as id: InstanceID) -> ScriptCall {
        var call = ScriptCall(BudgetScript.release, keys: [Keys.budget(pool: self.pool)])
        call.add(id.description)
        call.add(seq)
        return call
    }
}
