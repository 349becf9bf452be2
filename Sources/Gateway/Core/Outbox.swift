internal import Broker

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
    private var waiting: [UInt64: (Outcome) -> Void] = [:]
    private var tokens: UInt64 = 0
    private var whenRoom: [() -> Void] = []

    init(_ client: BrokerClient, state: BrokerState, metrics: Metrics) {
        self.client = client
        self.state = state
        self.metrics = metrics
        var settings = Publisher.Settings()
        settings.confirmTimeout = .seconds(5)
        self.publisher = client.makePublisher(settings, delegate: self)
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

    /// Publishes; `completion` is called once, never from within this call.
    /// - Returns: false if nothing can be published now, and nothing is reported then.
    func publish(_ message: consuming Message, _ completion: @escaping (Outcome) -> Void) -> Bool {
        guard self.obstacle == nil else { return false }
        self.tokens += 1
        guard self.publisher.publish(message, token: self.tokens) else { return false }
        self.waiting[self.tokens] = completion
        return true
    }

    func close(_ completion: @escaping () -> Void) {
        self.state.whenClosed = completion
        self.client.close()
    }
}

extension Outbox: PublisherDelegate {
    func publisher(_: Publisher, didFinish result: PublishResult) {
        guard let completion = self.waiting.removeValue(forKey: result.token) else { return }
        let outcome: Outcome =
            switch result.outcome {
            case .confirmed: .confirmed
            case .nacked: .failed("refused")
            case .returned(_, let text): .failed("returned: \(text)")
            case .notSent: .failed("not sent")
            case .unknown: .unknown
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
