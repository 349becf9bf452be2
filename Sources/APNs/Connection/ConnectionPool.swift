package import HTTP2
package import Loop
package import Push
package import Wire

/// The connections that one worker holds with one credential.
///
/// How many there are is decided by ``ConnectionPlan`` from what the lease allows and the work wants; which one takes
/// a request, here. Every request submitted comes back to the delegate exactly once, as a reply or as a failure.
package final class ConnectionPool {
    package struct Settings {
        package var endpoint: Endpoint
        package var tls: TLSContext
        package var http2 = HTTP2Client.Settings()
        package var plan = ConnectionPlan.Settings()
        package var health = ConnectionHealth.Settings()

        package init(endpoint: Endpoint, tls: TLSContext) {
            self.endpoint = endpoint
            self.tls = tls
        }
    }

    private var settings: Settings
    private var authorization: Authorization
    /// Goes up when the credential is swapped; connections of an earlier one are replaced.
    private var generation = 0
    private let loop: EventLoop
    private unowned let delegate: any ConnectionPoolDelegate
    private var plan: ConnectionPlan
    private var connections: [ConnectionPlan.ID: APNsConnection] = [:]
    /// The ready ones, for choosing without a look-up.
    private var ready: [APNsConnection] = []
    private var dial: Deadline?
    private var turn = 0
    /// Connections that came and went so far.
    package private(set) var tally = ConnectionTally()

    package init(
        _ settings: Settings,
        authorization: Authorization,
        on loop: EventLoop,
        delegate: any ConnectionPoolDelegate
    ) {
        self.settings = settings
        self.authorization = authorization
        self.loop = loop
        self.delegate = delegate
        self.plan = ConnectionPlan(settings: settings.plan)
    }

    // MARK: Size

    /// How many connections the lease allows. A smaller number drains what is too many.
    package var limit: Int {
        get { self.plan.limit }
        set {
            guard self.plan.limit != newValue else { return }
            self.plan.limit = newValue
            self.update()
        }
    }

    /// How many connections the work at hand would use.
    package var wanted: Int {
        get { self.plan.wanted }
        set {
            guard self.plan.wanted != newValue else { return }
            self.plan.wanted = newValue
            self.update()
        }
    }

    /// Connections that count against the budget: dialling, ready and draining.
    package var held: Int { self.plan.held }
    /// Requests that wait for an answer.
    package var inFlight: Int { self.connections.values.reduce(0) { $0 + $1.http2.openStreams } }

    /// Opens and drains as lease and work have it. To be called when the lease may have come to allow more.
    package func update() {
        for action in self.plan.actions(at: self.loop.now, mayOpen: self.delegate.poolMayOpen(self)) {
            switch action {
            case .open(let id): self.open(id)
            case .drain(let id): self.drain(id)
            }
        }
        self.dial?.cancel()
        self.dial = nil
        // A dial that is due was forbidden by lease or pace just now: their next answer updates, no clock does.
        guard let time = self.plan.nextTime(after: self.loop.now) else { return }
        self.dial = self.loop.at(time) { [unowned self] in self.update() }
    }

    deinit {
        self.dial?.cancel()
    }

    private func open(_ id: ConnectionPlan.ID) {
        self.connections[id] = APNsConnection(
            id: id,
            settings: self.settings,
            authorization: self.authorization,
            generation: self.generation,
            loop: self.loop,
            pool: self
        )
        self.delegate.poolDidChangeHeld(self)
    }

    private func drain(_ id: ConnectionPlan.ID) {
        guard let connection = self.connections[id] else { return }
        self.ready.removeAll { $0 === connection }
        connection.http2.drain()
    }

    // MARK: Credential

    /// Opens new connections with another credential from now on, and replaces those there are, one after the other.
    package func use(_ tls: TLSContext, authorization: Authorization) {
        self.settings.tls = tls
        self.authorization = authorization
        self.supersede()
    }

    /// Another credential is in use, in this pool or another: when Apple refuses the one of an older connection, that
    /// says nothing about it, and the push is one for the new one.
    package func supersede() {
        self.generation += 1
        self.plan.outdate()
        self.update()
    }

    // MARK: Requests

    /// How many requests can be sent now, and how many there could be at a time, on the connections that take any.
    package var streams: (free: Int, total: Int) {
        self.ready.reduce(into: (free: 0, total: 0)) { sum, connection in
            let free = connection.http2.availableStreams
            sum.free += free
            sum.total += free + connection.http2.openStreams
        }
    }

    /// Sends on the connection with the fewest open requests that has room, so that load spreads, and a new one that
    /// Apple still holds to one stream gets the push that opens it up. Connections that are equal take turns; those of
    /// a credential that is being replaced come last.
    /// - Parameter context: comes back with the outcome.
    /// - Precondition: a stream is free.
    package func submit(_ headers: RequestHeaders, body: [UInt8], payload: Range<Int>, context: UInt64) {
        let best = self.ready.count == 1 ? self.ready[0] : self.leastBusy()
        best.health.sent(at: self.loop.now)
        headers.submit(
            on: best.http2,
            authorization: best.authorization,
            body: body,
            payload: payload,
            context: context
        )
    }

    private func leastBusy() -> APNsConnection {
        self.turn &+= 1
        var best: APNsConnection?
        var fewest = Int.max
        for offset in self.ready.indices {
            let connection = self.ready[(self.turn &+ offset) % self.ready.count]
            var open = connection.http2.openStreams
            if connection.generation != self.generation { open += Self.penalty }
            guard open < fewest, connection.http2.availableStreams > 0 else { continue }
            (best, fewest) = (connection, open)
        }
        guard let best else { preconditionFailure("a push was submitted where none may be") }
        return best
    }

    /// More than any connection has open.
    private static let penalty = 1 << 32

    /// Closes everything at once: the lease is over. Requests in flight fail as possibly sent.
    package func closeAll() {
        self.plan.limit = 0
        self.dial?.cancel()
        for connection in Array(self.connections.values) { connection.http2.close() }
    }

    // MARK: What connections report

    func becameReady(_ connection: APNsConnection) {
        self.tally.becameReady()
        self.plan.ready(connection.id, at: self.loop.now, random: .random(in: 0...UInt64.max))
        self.ready.append(connection)
        self.update()
        self.delegate.poolHasFreeStreams(self)
    }

    func hasFreeStreams() {
        self.delegate.poolHasFreeStreams(self)
    }

    func received(_ reply: Reply, latency: Duration, context: UInt64, on connection: APNsConnection) {
        let classification = Classification.classify(reply)
        if !connection.isProven, reply.status < 500 {
            connection.isProven = true
            self.plan.proved(connection.id)
        }
        if reply.status == 200 {
            if connection.health.accepted() { connection.http2.localStreamCap = connection.health.streamCap }
        } else if connection.health.answered(reply, classification, at: self.loop.now) == .retire {
            self.retire(connection)
        }
        if connection.generation != self.generation, case .credentialFault = classification.outcome {
            let failure = SendFailure.notSent(.credentialReplaced)
            return self.delegate.pool(self, didFail: failure, context: context, connection: connection.number)
        }
        self.delegate.pool(
            self,
            didReceive: reply,
            classification: classification,
            latency: latency,
            context: context,
            connection: connection.number
        )
    }

    /// A connection that is to be retired is so before the delegate hears of the failure: what it sends again at once
    /// goes elsewhere.
    func failed(_ failure: SendFailure, context: UInt64, on connection: APNsConnection) {
        let open = connection.http2.openStreams
        if connection.health.failed(failure, openStreams: open, at: self.loop.now) == .retire {
            self.retire(connection)
        }
        connection.http2.localStreamCap = connection.health.streamCap
        self.delegate.pool(self, didFail: failure, context: context, connection: connection.number)
    }

    private func retire(_ connection: APNsConnection) {
        guard self.connections[connection.id] === connection, !connection.isRetired else { return }
        connection.isRetired = true
        self.plan.retire(connection.id)
        self.drain(connection.id)
        self.update()
    }

    func receivedGoAway(_ reason: ApnsReason?, on connection: APNsConnection) {
        self.retire(connection)
        // What Apple thinks of the credential before is of no interest.
        self.delegate.pool(self, didReceiveGoAway: connection.generation == self.generation ? reason : nil)
    }

    func closed(_ connection: APNsConnection, _ reason: CloseReason, wasReady: Bool, sawGoAway: Bool) {
        self.tally.closed(reason, wasReady: wasReady, sawGoAway: sawGoAway)
        self.ready.removeAll { $0 === connection }
        self.connections[connection.id] = nil
        self.plan.closed(connection.id, at: self.loop.now, random: .random(in: 0...UInt64.max))
        self.delegate.pool(self, didCloseConnection: reason.description, wasReady: wasReady)
        self.delegate.poolDidChangeHeld(self)
        self.update()
    }
}

/// Hears what becomes of requests and connections, on the pool's loop.
package protocol ConnectionPoolDelegate: AnyObject {
    /// Apple answered, so long after the request was submitted.
    /// - Parameter connection: which one, by a number of the pool's own.
    func pool(
        _ pool: ConnectionPool,
        didReceive reply: Reply,
        classification: Classification,
        latency: Duration,
        context: UInt64,
        connection: Int
    )
    /// There will be no answer.
    func pool(_ pool: ConnectionPool, didFail failure: SendFailure, context: UInt64, connection: Int)
    /// Apple ends a connection and perhaps says why.
    func pool(_ pool: ConnectionPool, didReceiveGoAway reason: ApnsReason?)
    /// A connection is over; one that never became ready was a failed dial.
    func pool(_ pool: ConnectionPool, didCloseConnection detail: String, wasReady: Bool)
    /// Whether lease and pace allow one more connection at this moment. Asked only when one is wanted; it is opened at
    /// once if they do. After a no, `update` is to be called when that has changed. Must not call the pool.
    func poolMayOpen(_ pool: ConnectionPool) -> Bool
    /// The number of held connections changed.
    func poolDidChangeHeld(_ pool: ConnectionPool)
    /// Requests can be sent.
    func poolHasFreeStreams(_ pool: ConnectionPool)
}
