package import Loop
internal import Push
package import Wire

/// Keeps one connection to Redis alive on a loop, and sends commands through it.
///
/// All commands of a turn leave in one write; answers are matched in order. A connection that is late with an answer,
/// or answers nonsense, is given up, and everything outstanding fails as unknown. There is no queue for later: while
/// there is no connection commands fail at once, because only their owners know whether they still make sense.
package final class RedisClient {
    package struct Settings: Sendable {
        /// How long one command may take; default 2 s.
        package var commandTimeout: Duration = .seconds(2)
        /// What `CLIENT LIST` shows; no spaces.
        package var clientName = "pushfleet"
        package var transport = Transport.Settings()

        package init() {
            self.transport.connectTimeout = .seconds(5)
        }
    }

    package enum State: Hashable, Sendable {
        /// Also while logging in.
        case connecting
        case ready(RedisServer)
        /// There will be another attempt; the reason why the last one ended.
        case waiting(reason: String)
        /// As `waiting`, but user and password were refused: an operator must act. Attempts go on, at most one a second.
        case authenticationFailed(reason: String)
        case stopped
    }

    package typealias Completion = (Result<RedisReply, RedisFailure>) -> Void

    /// Where it connects to.
    package let address: RedisAddress
    let loop: EventLoop
    private let tls: TLSContext?
    private let settings: Settings
    private var transport: Transport?
    private var reader = ReplyReader()
    private var handshake: RedisHandshake?
    private var queue = CommandQueue<Completion>()
    private var deadline: Deadline?
    private var reconnect: Deadline?
    /// The cap is short: after an outage nothing is sent before a worker is back here, and for one lease time more.
    private var backoff = ReconnectBackoff(initial: .milliseconds(100), cap: .seconds(1))
    private var encoded: [UInt8] = []
    private var observers: [(State) -> Void] = []

    package private(set) var state = State.stopped

    /// - Parameter tls: how to verify the server; needed if, and used only if, the address says `rediss`.
    package init(address: RedisAddress, tls: TLSContext?, settings: Settings = Settings(), on loop: EventLoop) {
        precondition(!address.usesTLS || tls != nil, "rediss without a TLS context")
        self.address = address
        self.tls = address.usesTLS ? tls : nil
        self.settings = settings
        self.loop = loop
    }

    /// Calls `body` with every later state. There is no way to stop listening: observers live as long as the client.
    package func observe(_ body: @escaping (State) -> Void) {
        self.observers.append(body)
    }

    /// The server behind the connection; nil unless ready.
    package var server: RedisServer? {
        guard case .ready(let server) = self.state else { return nil }
        return server
    }

    // MARK: Life

    /// Begins to connect, and goes on until `stop`.
    package func start() {
        guard self.state == .stopped else { return }
        self.connect()
    }

    /// Closes the connection. What is outstanding fails as unknown.
    package func stop() {
        guard self.state != .stopped else { return }
        self.disconnect(to: .stopped, reason: "stopped")
    }

    private func connect() {
        self.reconnect = nil
        self.reader = ReplyReader()
        self.handshake = RedisHandshake(address: self.address, clientName: self.settings.clientName)
        // A new transport looks the name up again: after a failover it may point elsewhere.
        self.transport = Transport(
            connectingTo: self.address.endpoint,
            tls: self.tls,
            settings: self.settings.transport,
            on: self.loop,
            delegate: self
        )
        self.change(to: .connecting)
    }

    private func lose(_ reason: String, authenticationFailed: Bool = false, slowly: Bool = false) {
        guard self.state != .stopped else { return }
        let slowly = slowly || authenticationFailed
        // What time alone does not cure is tried at most once a second.
        let wait = max(self.backoff.next(random: .random(in: 0...UInt64.max)), slowly ? .seconds(1) : .zero)
        self.reconnect = self.loop.after(wait) { [weak self] in self?.connect() }
        self.disconnect(
            to: authenticationFailed ? .authenticationFailed(reason: reason) : .waiting(reason: reason),
            reason: reason
        )
    }

    /// The state changes before anyone hears of failures: who sends again from there is told at once.
    private func disconnect(to state: State, reason: String) {
        if state == .stopped { self.reconnect?.cancel() }
        self.transport?.close()
        self.transport = nil
        self.handshake = nil
        self.deadline?.cancel()
        self.deadline = nil
        let waiting = self.queue.failAll()
        self.change(to: state)
        for completion in waiting { completion(.failure(.unknown(reason))) }
    }

    private func change(to state: State) {
        self.state = state
        for observer in self.observers { observer(state) }
    }

    // MARK: Commands

    /// Sends a command. `completion` is called later, exactly once, never from within this call.
    package func send(_ command: RedisCommand, _ completion: @escaping Completion) {
        guard case .ready = self.state else {
            let failure = RedisFailure.unavailable(self.reasonForNoConnection)
            self.loop.after(.zero) { completion(.failure(failure)) }
            return
        }
        self.write(command, completion)
    }

    /// Runs a script, by its digest if the server knows it.
    package func run(_ call: ScriptCall, _ completion: @escaping Completion) {
        self.send(call.byDigest) { [weak self] result in
            guard let self, case .failure(.refused(let error)) = result, error.kind == .noScript else {
                return completion(result)
            }
            self.send(call.bySource, completion)
        }
    }

    private var reasonForNoConnection: String {
        switch self.state {
        case .connecting: "still connecting"
        case .waiting(let reason), .authenticationFailed(let reason): reason
        case .stopped, .ready: "stopped"
        }
    }

    private func write(_ command: RedisCommand, _ completion: @escaping Completion) {
        self.encoded.removeAll(keepingCapacity: true)
        command.encode(into: &self.encoded)
        self.transport?.write(self.encoded)
        self.queue.append(completion, deadline: self.loop.now + self.settings.commandTimeout)
        if self.deadline == nil { self.watchHead() }
    }

    /// One deadline serves the whole queue: when it comes it looks who is at the head by then.
    private func watchHead() {
        guard let time = self.queue.deadline else { return }
        self.deadline = self.loop.at(time) { [weak self] in
            guard let self else { return }
            self.deadline = nil
            guard self.queue.isOverdue(at: self.loop.now) else { return self.watchHead() }
            self.lose("no answer within \(self.settings.commandTimeout)")
        }
    }

    // MARK: Answers

    private func received(_ reply: RedisReply) {
        guard let completion = self.queue.answered() else { return self.lose("an answer that nobody asked for") }
        guard case .error(let error) = reply else { return completion(.success(reply)) }
        completion(.failure(.refused(error)))
        // The master has become a replica: the name may lead to the new one.
        if error.kind == .readOnly { self.lose(error.text) }
    }

    private func goOnWithHandshake() {
        guard let command = self.handshake?.next else { return }
        self.write(command) { [weak self] result in
            guard let self, self.handshake != nil else { return }
            switch result {
            case .success(let reply): self.handshakeAnswered(reply)
            case .failure(.refused(let error)): self.handshakeAnswered(.error(error))
            case .failure: break
            }
        }
    }

    private func handshakeAnswered(_ reply: RedisReply) {
        switch self.handshake?.answered(reply) {
        case .goOn?:
            self.goOnWithHandshake()
        case .ready(let server)?:
            self.handshake = nil
            self.backoff.reset()
            self.change(to: .ready(server))
        case .authenticationFailed(let reason)?:
            self.lose(reason, authenticationFailed: true)
        case .refused(let reason)?:
            self.lose(reason, slowly: true)
        case nil:
            break
        }
    }
}

extension RedisClient: TransportDelegate {
    package func transportDidOpen(_: Transport) {
        self.goOnWithHandshake()
    }

    package func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        do throws(ReplyReader.Malformed) {
            try self.reader.feed(bytes)
            // A completion may close this connection, or a new one may already be under way.
            while self.transport === transport, let reply = try self.reader.next() {
                self.received(reply)
            }
        } catch {
            self.lose("malformed reply: \(error.reason)")
        }
    }

    package func transport(_ transport: Transport, didClose error: TransportError) {
        guard self.transport === transport else { return }
        self.lose(error.description)
    }
}
