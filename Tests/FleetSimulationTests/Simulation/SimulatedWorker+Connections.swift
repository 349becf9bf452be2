import Push

@testable import APNs
@testable import Store
@testable import Worker

/// Mirrors `ConnectionPool`, `APNsConnection` and the part of `Sender` that carries pushes.
extension SimulatedWorker {
    // MARK: Size

    /// Mirrors `Sender.updateDemand`.
    func updateDemand() {
        let inFlight = self.connections.reduce(0) { $0 + $1.open.count }
        let work = inFlight + self.queue.count
        let useful = (work + self.setup.streamsPerConnection - 1) / self.setup.streamsPerConnection
        let wanted = self.demand.noted(min(max(1, useful), self.setup.budget), at: self.now)
        // A worker that drains lets what is in flight finish; it wants nothing once it closes.
        let now = self.shutdown.phase == .closing ? 0 : wanted
        guard now != self.plan.wanted else { return }
        self.plan.wanted = now
        self.updatePool()
    }

    func setLimit(_ limit: Int) {
        guard self.plan.limit != limit else { return }
        self.plan.limit = limit
        self.updatePool()
    }

    var connectionsAllowed: Int { self.shutdown.phase == .closing ? 0 : self.plan.limit }

    func updatePool() {
        let mayOpen = self.lease.mayOpen(open: self.plan.held, now: self.now)
        for action in self.plan.actions(at: self.now, mayOpen: mayOpen) {
            switch action {
            case .open(let id):
                let health = ConnectionHealth(at: self.now)
                let connection = SimulatedConnection(id, worker: self, health: health)
                self.connections.append(connection)
                self.simulation.note("w\(self.index) dials, \(self.plan.held) open")
                self.simulation.dial(connection)
            case .drain(let id):
                guard let connection = self.connections.first(where: { $0.id == id }) else { continue }
                self.drain(connection)
            }
        }
        guard let next = self.plan.nextTime(after: self.now) else {
            self.dialWake = 0
            return
        }
        let wait = self.wait(until: next)
        let time = self.simulation.now + wait
        guard time != self.dialWake, wait < 600_000 else { return }
        self.dialWake = time
        self.simulation.schedule(after: wait) { [self] in
            guard time == self.dialWake else { return }
            self.dialWake = 0
            self.simulation.on(self, after: 0) { [self] in self.updatePool() }
        }
    }

    /// Nothing new goes on it; without requests it closes.
    private func drain(_ connection: SimulatedConnection) {
        connection.isDraining = true
        self.closeIfIdle(connection)
    }

    private func closeIfIdle(_ connection: SimulatedConnection) {
        guard connection.isDraining, connection.open.isEmpty, !connection.isClosed else { return }
        self.simulation.on(self, after: 1) { [self] in
            if connection.open.isEmpty { self.connectionClosed(connection, .connectionLost) }
        }
    }

    /// The lease is over.
    func closeAll() {
        self.plan.limit = 0
        for connection in self.connections { self.connectionClosed(connection, .connectionLost) }
    }

    // MARK: What connections report

    func connectionReady(_ connection: SimulatedConnection) {
        guard !connection.isClosed, !connection.isDraining else { return }
        connection.isReady = true
        self.plan.ready(connection.id, at: self.now, random: self.simulation.bits())
        self.updatePool()
        self.needsPump = true
    }

    func connectionClosed(_ connection: SimulatedConnection, _ cause: SendFailure.Cause) {
        guard !connection.isClosed else { return }
        connection.isClosed = true
        let requests = connection.open
        connection.open = []
        self.connections.removeAll { $0 === connection }
        for request in requests { self.failed(request.context, .maybeSent(cause)) }
        self.plan.closed(connection.id, at: self.now, random: self.simulation.bits())
        self.updatePool()
        self.needsPump = true
    }

    func goAway(_ connection: SimulatedConnection) {
        self.retire(connection)
        let unprocessed = connection.open.filter { !$0.isProcessed }
        connection.open.removeAll { !$0.isProcessed }
        for request in unprocessed { self.failed(request.context, .notSent(.goAwayUnprocessed)) }
        self.closeIfIdle(connection)
    }

    private func retire(_ connection: SimulatedConnection) {
        guard !connection.isClosed, !connection.isRetired else { return }
        connection.isRetired = true
        self.plan.retire(connection.id)
        self.drain(connection)
        self.updatePool()
    }

    func requestAnswered(at index: Int, _ reply: Reply, on connection: SimulatedConnection) {
        let request = connection.open.remove(at: index)
        let classification = Classification.classify(reply)
        if !connection.isProven, reply.status < 500 {
            connection.isProven = true
            self.plan.proved(connection.id)
        }
        if reply.status == 200 {
            _ = connection.health.accepted()
        } else if connection.health.answered(reply, classification, at: self.now) == .retire {
            self.retire(connection)
        }
        self.answered(request, reply, classification)
        self.needsPump = true
        self.closeIfIdle(connection)
    }

    func requestFailed(at index: Int, _ failure: SendFailure, on connection: SimulatedConnection) {
        let open = connection.open.count
        let request = connection.open.remove(at: index)
        if connection.health.failed(failure, openStreams: open, at: self.now) == .retire { self.retire(connection) }
        self.failed(request.context, failure)
        self.needsPump = true
        self.closeIfIdle(connection)
    }

    // MARK: Sending; mirrors `Sender.pump` and `ConnectionPool.submit`

    func pump() {
        guard self.queue.count > 0, self.isLeaseValid else { return }
        var free = self.connections.reduce(0) { $0 + $1.availableStreams }
        while free > 0, let push = self.queue.takeFirst() {
            if self.mayGo(push), self.submit(push) { free -= 1 }
        }
        self.updateDemand()
    }

    private func submit(_ push: SendQueue.Push) -> Bool {
        self.turnOfConnections += 1
        var best: SimulatedConnection?
        for offset in self.connections.indices {
            let connection = self.connections[(self.turnOfConnections + offset) % self.connections.count]
            guard connection.availableStreams > 0 else { continue }
            if connection.open.count < best?.open.count ?? .max { best = connection }
        }
        guard let best, let flight = self.flights[push.flight] else {
            self.simulation.fail("a push is submitted where none may be")
            return false
        }
        flight.inFlight += 1
        flight.wasSent = true
        best.health.sent(at: self.now)
        self.requests += 1
        self.simulation.sends(flight.line.app, by: self)
        let request = SimulatedConnection.Request(
            number: self.requests,
            context: push.flight.context(token: push.token),
            app: flight.line.app,
            token: flight.message.tokens[push.token],
            sent: self.now
        )
        best.open.append(request)
        self.simulation.send(request, on: best)
        return true
    }
}
