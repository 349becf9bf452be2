internal import Broker
internal import Loop
internal import Push

/// Publishes with confirms, for those who cannot wait: while the broker is away or takes nothing, the answer is no.
///
/// A worker's outbox keeps messages until the broker is back, because it holds a delivery that stands for them. Here a
/// client waits, and its SDK tries again by itself.
final class Outbox {
    /// What became of a message.
    enum Outcome: Equatable {
        case confirmed
        /// It is certainly in no queue.
        case failed(String)
        /// It may be in a queue: the connection ended or the time was up before the broker said so.
        case unknown
    }

    private let client: BrokerClient
    private let state: BrokerState
    private let metrics: Metrics
    private var publisher: Publisher!
    private let loop: EventLoop
    private var waiting: [UInt64: Waiting] = [:]
    private var tokens: UInt64 = 0
    /// In the order of publishing, and so of their deadlines; those that were answered are passed over.
    private var deadlines: [(token: UInt64, time: MonotonicTime)] = []
    private var head = 0
    private var timer: Deadline?

    /// How long somebody waits. During an alarm of the broker a message may rest in the socket for much longer.
    private static let patience = Duration.seconds(5)

    private struct Waiting {
        /// Nil once it has been answered.
        var completion: ((Outcome) -> Void)?
        let late: ((Outcome) -> Void)?
    }

    init(_ client: BrokerClient, state: BrokerState, metrics: Metrics, on loop: EventLoop) {
        self.client = client
        self.state = state
        self.metrics = metrics
        self.loop = loop
        self.publisher = client.makePublisher(delegate: self)
    }

    /// Why nothing can be published now; nil if it can.
    var obstacle: String? {
        if let reason = self.client.blockedReason { return "it takes no messages: \(reason)" }
        return switch self.client.state {
        case .connected: nil
        case .connecting: "connecting"
        case .waiting(let error): error.description
        case .closing, .closed: "closed"
        }
    }

    /// Publishes; `completion` is called once, within a few seconds, never from within this call.
    /// - Parameter late: called with what became of it in the end, if `completion` was told `unknown`.
    /// - Returns: false if nothing can be published now, and nothing is reported then.
    func publish(
        _ message: consuming Message,
        late: ((Outcome) -> Void)? = nil,
        _ completion: @escaping (Outcome) -> Void
    ) -> Bool {
        guard self.obstacle == nil else { return false }
        self.tokens += 1
        guard self.publisher.publish(message, token: self.tokens) else { return false }
        self.waiting[self.tokens] = Waiting(completion: completion, late: late)
        self.deadlines.append((self.tokens, self.loop.now + Self.patience))
        if self.timer?.isPending != true { self.setTimer() }
        return true
    }

    /// One timer for all: it looks who is overdue by then.
    private func setTimer() {
        while self.head < self.deadlines.count, self.waiting[self.deadlines[self.head].token]?.completion == nil {
            self.head += 1
        }
        if self.head == self.deadlines.count {
            self.deadlines.removeAll(keepingCapacity: true)
            self.head = 0
            return
        }
        if self.head > 4096, self.head > self.deadlines.count / 2 {
            self.deadlines.removeFirst(self.head)
            self.head = 0
        }
        self.timer = self.loop.at(self.deadlines[self.head].time) { [weak self] in self?.expire() }
    }

    private func expire() {
        while self.head < self.deadlines.count, self.deadlines[self.head].time <= self.loop.now {
            let token = self.deadlines[self.head].token
            self.head += 1
            guard let completion = self.waiting[token]?.completion else { continue }
            self.waiting[token]?.completion = nil
            self.metrics.published(.unknown)
            completion(.unknown)
        }
        self.setTimer()
    }

    func close(_ completion: @escaping () -> Void) {
        self.state.whenClosed = completion
        self.client.close()
    }
}

extension Outbox: PublisherDelegate {
    func publisher(_: Publisher, didFinish result: PublishResult) {
        guard let waiting = self.waiting.removeValue(forKey: result.token) else { return }
        let outcome: Outcome =
            switch result.outcome {
            case .confirmed: .confirmed
            case .nacked: .failed("refused")
            case .returned(_, let text): .failed("returned: \(text)")
            case .notSent: .failed("not sent")
            case .unknown: .unknown
            }
        guard let completion = waiting.completion else {
            waiting.late?(outcome)
            return
        }
        self.metrics.published(outcome)
        completion(outcome)
    }

    func publisherCanAccept(_: Publisher) {}
}

/// Hears of the connection to the broker.
final class BrokerState: BrokerClientDelegate {
    var whenClosed: (() -> Void)?

    func brokerClient(_: BrokerClient, didChange state: BrokerClient.State) {
        guard state == .closed else { return }
        self.whenClosed.take()?()
    }
}
