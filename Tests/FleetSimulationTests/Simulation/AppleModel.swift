import Push
import TestRandom

@testable import APNs

/// How Apple is at present.
struct AppleWeather {
    /// Milliseconds that an answer takes.
    var answers: ClosedRange<Int>
    /// How many of 100 pushes get a 503, and how many no answer.
    var errors = 0
    var silent = 0
    /// Every push gets this.
    var refusal: Reply?
    var refusesDials = false
    /// Streams of a new connection after its first answer.
    var streams: Int

    init(_ setup: Setup) {
        self.answers = setup.answers
        self.streams = setup.streams
    }
}

/// One connection between a worker and Apple, both ends.
final class SimulatedConnection {
    let id: ConnectionPlan.ID
    unowned let worker: SimulatedWorker
    var health: ConnectionHealth
    /// Requests without an answer.
    var open: [Request] = []
    var isReady = false
    var isDraining = false
    var isClosed = false
    var isRetired = false
    var isProven = false
    /// Nothing arrives any more, neither way.
    var isCut = false
    /// Apple has said that it takes nothing more.
    var isGoneAway = false
    /// Apple holds a new connection to one stream until its first push went through.
    var streams = 1

    struct Request {
        let number: Int
        let context: UInt64
        let app: Int
        let token: SimulatedToken
        let sent: MonotonicTime
        var isProcessed = false
    }

    init(_ id: ConnectionPlan.ID, worker: SimulatedWorker, health: ConnectionHealth) {
        self.id = id
        self.worker = worker
        self.health = health
    }

    var availableStreams: Int {
        guard self.isReady, !self.isDraining, !self.isClosed else { return 0 }
        return max(0, min(self.streams, self.health.streamCap) - self.open.count)
    }
}

extension FleetSimulation {
    // MARK: Apple's side of a connection

    /// A dial: it becomes ready, is refused, or leads nowhere.
    func dial(_ connection: SimulatedConnection) {
        let worker = connection.worker
        if worker.appleCutUntil > self.now {
            connection.isCut = true
            return self.on(worker, after: self.some(3_000...6_000)) { worker.connectionClosed(connection, .timeout) }
        }
        if self.apple.refusesDials {
            return self.on(worker, after: self.some(5...50)) { worker.connectionClosed(connection, .connectionLost) }
        }
        self.on(worker, after: self.some(20...150)) {
            if !connection.isCut { worker.connectionReady(connection) }
        }
    }

    /// A push on its way.
    func send(_ request: SimulatedConnection.Request, on connection: SimulatedConnection) {
        let worker = connection.worker
        func index() -> Int? { connection.open.firstIndex { $0.number == request.number } }
        self.schedule(after: Int(self.setup.requestTimeout.milliseconds)) { [self] in
            guard index() != nil else { return }
            self.on(worker, after: 0) {
                if let index = index() { worker.requestFailed(at: index, .maybeSent(.timeout), on: connection) }
            }
        }
        guard !connection.isCut else { return }
        self.schedule(after: self.some(1...20)) { [self] in
            guard !connection.isClosed, !connection.isCut, !connection.isGoneAway, let open = index() else { return }
            self.arrives(request.app)
            guard self.some(0...99) >= self.apple.silent else { return }
            connection.open[open].isProcessed = true
            let reply = self.judge(request.token)
            if reply.status == 200 { self.end(request.token, \.accepted) }
            self.on(worker, after: self.some(self.apple.answers)) {
                guard !connection.isCut, let index = index() else { return }
                connection.streams = max(connection.streams, self.apple.streams)
                worker.requestAnswered(at: index, reply, on: connection)
            }
        }
    }

    private func judge(_ token: SimulatedToken) -> Reply {
        if let refusal = self.apple.refusal { return refusal }
        if self.some(0...99) < self.apple.errors { return Reply(status: 503, reason: .serviceUnavailable) }
        switch token.device % 50 {
        case 7: return Reply(status: 410, reason: .unregistered, timestamp: UnixTime(seconds: 1_600_000_000))
        case 11: return Reply(status: 400, reason: .badDeviceToken)
        case 13 where self.random.chance(0.5): return Reply(status: 429, reason: .tooManyRequests)
        default: return Reply(status: 200)
        }
    }

    /// Apple ends a connection in good order: newer streams were not processed, the others are answered.
    func goAway(_ connection: SimulatedConnection) {
        guard connection.isReady, !connection.isClosed, !connection.isCut else { return }
        let worker = connection.worker
        connection.isGoneAway = true
        self.on(worker, after: self.some(1...20)) {
            if !connection.isClosed, !connection.isCut { worker.goAway(connection) }
        }
    }

    /// A connection breaks without a word.
    func reset(_ connection: SimulatedConnection) {
        guard !connection.isClosed, !connection.isCut else { return }
        connection.isCut = true
        let worker = connection.worker
        self.on(worker, after: self.some(1...20)) { worker.connectionClosed(connection, .connectionLost) }
    }
}
