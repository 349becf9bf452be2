/// Requests and answers on a channel, one at a time and in order.
///
/// A request that the broker answers by closing the channel fails alone: the next one gets a new channel.
final class RequestChannel {
    enum Answer {
        case method(ChannelMethod)
        case message(Delivery)
    }

    typealias Completion = (Result<Answer, BrokerError>) -> Void

    private let connection: Connection
    private let readsAllHeaders: Bool
    private var channel: Channel?
    private var requests: [(send: (Channel) -> Void, completion: Completion)] = []
    private var isWaiting = false
    private var hasEnded = false

    init(_ connection: Connection, readsAllHeaders: Bool) {
        self.connection = connection
        self.readsAllHeaders = readsAllHeaders
    }

    /// - Parameter send: says one method that the broker answers.
    func request(_ send: @escaping (Channel) -> Void, _ completion: @escaping Completion) {
        guard !self.hasEnded else { return completion(.failure(.closed)) }
        self.requests.append((send, completion))
        self.next()
    }

    /// Says something that has no answer. Does nothing if `id`'s channel is gone.
    func settle(_ id: DeliveryID, _ settlement: DeliveryLedger.Settlement) {
        guard let channel = self.channel, channel.isOpen, channel.epoch == id.epoch else { return }
        channel.settle(settlement)
    }

    private func next() {
        guard !self.isWaiting, let request = self.requests.first else { return }
        guard let channel = self.channel else {
            self.channel = self.connection.openChannel(self, readsAllHeaders: self.readsAllHeaders)
            if self.channel == nil { self.end(.closed) }
            return
        }
        guard channel.isOpen else { return }
        self.isWaiting = true
        request.send(channel)
    }

    private func answer(_ result: Result<Answer, BrokerError>) {
        guard self.isWaiting else { return }
        self.isWaiting = false
        let request = self.requests.removeFirst()
        request.completion(result)
        self.next()
    }

    private func end(_ error: BrokerError) {
        self.hasEnded = true
        let requests = self.requests
        self.requests = []
        for request in requests { request.completion(.failure(error)) }
    }
}

extension RequestChannel: ChannelHandler {
    func channelDidOpen(_: Channel) { self.next() }

    func channel(_: Channel, didReceive method: ChannelMethod) {
        self.answer(.success(.method(method)))
    }

    func channel(_: Channel, didReceive kind: ContentKind, _ delivery: consuming Delivery) {
        if kind == .got { self.answer(.success(.message(delivery))) }
    }

    func channel(_: Channel, didClose error: BrokerError) {
        self.channel = nil
        guard case .channelClosed = error else { return self.end(error) }
        self.answer(.failure(error))
    }
}
