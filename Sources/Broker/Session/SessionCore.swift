internal import Loop
internal import Push
internal import Wire

/// The part of a ``BrokerSession`` that lives on its loop.
final class SessionCore {
    private let settings: BrokerSettings
    private let tls: TLSContext?
    private let timeout: Duration
    private let loop: EventLoop
    private var connection: Connection?
    private var publisher: Publisher?
    private(set) var requests: RequestChannel?
    private(set) var messages: RequestChannel?
    /// A channel asks one thing at a time, so that many questions need many.
    private var askers: [RequestChannel] = []
    private var opening: ((Result<Void, BrokerError>) -> Void)?
    private var closing: ((Result<Void, BrokerError>) -> Void)?
    private var ended: BrokerError?
    private var published: [UInt64: (Result<PublishOutcome, BrokerError>) -> Void] = [:]
    private var tokens: UInt64 = 0

    init(_ settings: BrokerSettings, timeout: Duration, loop: EventLoop) throws(TLSContextError) {
        self.settings = settings
        self.tls = try settings.makeTLS()
        self.timeout = timeout
        self.loop = loop
    }

    var product: String { self.connection?.product ?? "" }

    /// Runs one call: it is answered once, by its own answer or by the time limit, whichever is first.
    func ask<Answer>(
        _ body: (SessionCore, @escaping (Result<Answer, BrokerError>) -> Void) -> Void,
        _ completion: @escaping (Result<Answer, BrokerError>) -> Void
    ) {
        var completion: ((Result<Answer, BrokerError>) -> Void)? = completion
        let limit = self.loop.after(self.timeout) { [weak self] in
            completion.take()?(.failure(.timeout))
            // Answers come in order, so a late one would be taken for the next.
            self?.connection?.fail(.timeout)
        }
        body(self) { result in
            limit.cancel()
            completion.take()?(result)
        }
    }

    func connect(_ completion: @escaping (Result<Void, BrokerError>) -> Void) {
        self.opening = completion
        self.connection = Connection(self.settings, tls: self.tls, on: self.loop, delegate: self)
    }

    func close(_ completion: @escaping (Result<Void, BrokerError>) -> Void) {
        guard self.ended == nil, let connection = self.connection else {
            self.loop.stop()
            return completion(.success(()))
        }
        self.closing = completion
        connection.close()
    }

    func abandon() {
        self.connection?.abandon()
        self.loop.stop()
    }

    func queueDepths(
        _ names: [String],
        _ completion: @escaping (Result<[String: BrokerSession.QueueDepth], BrokerError>) -> Void
    ) {
        guard self.ended == nil, let connection = self.connection else {
            return completion(.failure(self.ended ?? .closed))
        }
        while self.askers.count < min(names.count, Self.askerLimit) {
            self.askers.append(RequestChannel(connection, readsAllHeaders: false))
        }
        guard !names.isEmpty else { return completion(.success([:])) }
        var depths: [String: BrokerSession.QueueDepth] = [:]
        var failure: BrokerError?
        var missing = names.count
        for (index, name) in names.enumerated() {
            let asker = self.askers[index % self.askers.count]
            let question = { (channel: Channel) in channel.declareQueue(name, passive: true) }
            asker.request(question) { result in
                switch result {
                case .success(.method(.queueDeclareOK(let messages, let consumers))):
                    depths[name] = BrokerSession.QueueDepth(messages: Int(messages), consumers: Int(consumers))
                case .success: break
                case .failure(let error) where error.isNotFound: break
                case .failure(let error): failure = failure ?? error
                }
                missing -= 1
                if missing == 0 { completion(failure.map { .failure($0) } ?? .success(depths)) }
            }
        }
    }

    private static let askerLimit = 16

    func publish(_ message: Message, _ completion: @escaping (Result<PublishOutcome, BrokerError>) -> Void) {
        guard self.ended == nil, let publisher = self.publisher else {
            return completion(.failure(self.ended ?? .closed))
        }
        self.tokens += 1
        guard publisher.publish(message, token: self.tokens) else { return completion(.success(.notSent)) }
        self.published[self.tokens] = completion
    }

    func publish(_ messages: [Message], _ completion: @escaping (Result<[PublishOutcome], BrokerError>) -> Void) {
        guard !messages.isEmpty else { return completion(.success([])) }
        var outcomes = [PublishOutcome](repeating: .notSent, count: messages.count)
        var missing = messages.count
        for (index, message) in messages.enumerated() {
            self.publish(message) { result in
                if case .success(let outcome) = result { outcomes[index] = outcome }
                missing -= 1
                if missing == 0 { completion(.success(outcomes)) }
            }
        }
    }
}

extension SessionCore: ConnectionDelegate {
    func connectionDidOpen(_ connection: Connection) {
        self.requests = RequestChannel(connection, readsAllHeaders: true)
        self.messages = RequestChannel(connection, readsAllHeaders: true)
        var settings = Publisher.Settings()
        settings.messageLimit = 1_000_000
        settings.byteLimit = 256 << 20
        settings.confirmTimeout = self.timeout
        let publisher = Publisher(settings, backoff: self.settings.backoff, on: self.loop, delegate: self)
        self.publisher = publisher
        publisher.attach(connection)
        self.opening.take()?(.success(()))
    }

    func connectionDidChangeBlocked(_ connection: Connection) {
        self.publisher?.didChangeBlocked(connection.blockedReason)
    }

    func connection(_: Connection, didClose error: BrokerError) {
        self.ended = error
        self.connection = nil
        self.publisher?.detach()
        self.publisher?.end()
        self.opening.take()?(.failure(error))
        if let closing = self.closing.take() {
            closing(.success(()))
            self.loop.stop()
        }
    }
}

extension SessionCore: PublisherDelegate {
    func publisher(_: Publisher, didFinish result: PublishResult) {
        self.published.removeValue(forKey: result.token)?(.success(result.outcome))
    }

    func publisherCanAccept(_: Publisher) {}
}
