internal import Push

/// The way of a request: what is found in it, what the fault rules make of that, and what the ledger says.
extension PushService {
    /// Judges a request, lets the fault rules have their way with it, and writes it down.
    mutating func receive(_ request: PushRequest, stream: Int32, on place: Int, at now: Moment) -> Reaction {
        guard var connection = self.connections[place] else { preconditionFailure("a request on no connection") }
        let request = request.completed(by: connection.binding.certificate)
        // Taken out, so that changing it does not copy what it holds.
        self.connections[place] = nil
        defer { self.connections[place] = connection }
        let idle = connection.begin(at: now.monotonic)
        guard !connection.isWedged, connection.hole == nil else {
            return self.receiveUnserved(request, stream: stream, on: &connection, at: now)
        }
        var fault: FaultRules.Fault?
        if !self.faults.isEmpty {
            let place = FaultRules.Place(
                connection: connection.number,
                request: connection.requests,
                idle: idle,
                source: connection.binding.source
            )
            fault = self.faults.fault(for: request, at: place, now: now.monotonic)
            if let fault {
                self.changeWorld(fault.action, from: connection.binding.source, at: now.monotonic)
                if case .blackHole = fault.action { connection.hole = (fault.number, fault.processes) }
            }
        }
        let finding = fault?.isProcessed(stream) ?? true ? self.judge(request, on: &connection, at: now) : nil
        let id = request.messageID.value ?? self.makeID()
        var plan = self.plan(for: request, id: id, stream: stream, finding: finding, fault: fault)
        let isAccepted = finding?.verdict.isAccepted ?? (plan.status == 200)
        // A rule that says 200 by itself has the push accepted.
        if isAccepted { connection.accepted += 1 }
        let entry = self.write(
            request,
            id: id,
            stream: stream,
            on: connection,
            at: now,
            plan: plan,
            isAccepted: isAccepted,
            rule: fault?.number,
            providerToken: finding?.providerToken
        )
        var streamLimit: UInt32?
        if plan.status != 0 || finding != nil {
            let wasGood = plan.status == 0 ? isAccepted : plan.status == 200
            streamLimit = connection.streamLimit.judged(
                isAuthorized: finding?.isAuthorized ?? false,
                isAccepted: wasGood
            )
            if !wasGood { self.punish(&connection, finding: finding, plan: &plan, streamLimit: &streamLimit) }
        }
        var delay = self.latency.draw(from: &self.random)
        if let fault { delay += fault.delay }
        return Reaction(entry: entry, deed: plan.deed, delay: delay, streamLimit: streamLimit)
    }

    private mutating func judge(
        _ request: PushRequest,
        on connection: inout Connection,
        at now: Moment
    ) -> RequestCheck.Finding {
        let wasBound = connection.binding.key != nil
        let finding = self.check.judge(request, binding: &connection.binding, buckets: &self.buckets, at: now)
        if !wasBound, let key = connection.binding.key { self.log.didBind(to: key.key) }
        return finding
    }

    /// A request on a connection that says nothing any more, or serves nothing.
    private mutating func receiveUnserved(
        _ request: PushRequest,
        stream: Int32,
        on connection: inout Connection,
        at now: Moment
    ) -> Reaction {
        let finding = connection.hole?.processes == true ? self.judge(request, on: &connection, at: now) : nil
        let isAccepted = finding?.verdict.isAccepted ?? false
        if isAccepted { connection.accepted += 1 }
        let deed: Deed = connection.hole == nil ? .reset(code: Self.refusedStream, then: nil) : .stall
        let entry = self.write(
            request,
            id: request.messageID.value ?? self.makeID(),
            stream: stream,
            on: connection,
            at: now,
            plan: Plan(deed: deed, status: 0),
            isAccepted: isAccepted,
            rule: connection.hole?.rule,
            providerToken: finding?.providerToken
        )
        return Reaction(entry: entry, deed: deed, delay: .zero, streamLimit: nil)
    }

    /// What a refusal costs a connection.
    private func punish(
        _ connection: inout Connection,
        finding: RequestCheck.Finding?,
        plan: inout Plan,
        streamLimit: inout UInt32?
    ) {
        if finding?.verdict.reason == .expiredProviderToken, self.policy.wedgesAfterExpiredToken {
            connection.isWedged = true
            streamLimit = connection.streamLimit.hold(1) ?? streamLimit
        }
        guard let budget = self.policy.errorBudget else { return }
        connection.cost += self.policy.cost(status: plan.status, reason: plan.reason)
        if connection.cost > budget { plan.deed = .last(plan.deed, self.policy.overBudget) }
    }

    /// Does what a rule does to the simulator as a whole.
    mutating func changeWorld(_ action: FaultRule.Action, from source: String, at now: MonotonicTime) {
        switch action {
        case .revokeKey(let id): _ = self.check.providerTokens.revoke(id)
        case .addBundleID(let id): self.check.topics = self.check.topics.adding(id)
        case .setEnvironment(let environment): self.check.providerTokens.settings.environment = environment
        case .blockConnects(let length): self.gate.block(source, until: now + length)
        default: break
        }
    }

    private mutating func write(
        _ request: PushRequest,
        id: MessageID,
        stream: Int32,
        on connection: Connection,
        at now: Moment,
        plan: Plan,
        isAccepted: Bool,
        rule: UInt16?,
        providerToken: Int?
    ) -> UInt64 {
        self.ledger.record(
            Ledger.Arrival(
                request: request,
                messageID: id,
                connection: connection.number,
                stream: stream,
                time: now.wall,
                status: plan.status,
                reason: plan.reason,
                isAccepted: isAccepted,
                rule: rule,
                providerToken: providerToken
            )
        )
    }

    private static let refusedStream: UInt32 = 7

    /// Writes down a request that became complete only after a GOAWAY had said that it would not be processed.
    /// - Returns: its number in the ledger.
    mutating func ignore(_ request: PushRequest, stream: Int32, on place: Int, at now: Moment) -> UInt64 {
        self.connections[place]?.requests += 1
        self.connections[place]?.open += 1
        let entry = self.ledger.record(
            Ledger.Arrival(
                request: request,
                messageID: request.messageID.value ?? self.makeID(),
                connection: self.connections[place]?.number ?? 0,
                stream: stream,
                time: now.wall,
                status: 0,
                reason: nil,
                isAccepted: false,
                rule: nil,
                providerToken: nil
            )
        )
        self.ledger.withdraw(entry)
        return entry
    }

    private mutating func makeID() -> MessageID {
        MessageID(high: self.random.next(), low: self.random.next())
    }

    /// A request's stream has ended: its answer was handed over, or it never will be.
    mutating func ended(_ entry: UInt64, on place: Int, isAnswered: Bool) {
        if isAnswered { self.ledger.answered(entry) }
        self.connections[place]?.open -= 1
    }

    /// A GOAWAY said that a request was not processed.
    mutating func withdraw(_ entry: UInt64) {
        self.ledger.withdraw(entry)
    }
}
