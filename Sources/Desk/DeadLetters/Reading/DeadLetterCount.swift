internal import Broker

/// Asks once how many letters nobody holds.
final class DeadLetterCount {
    private let answer: (Int?) -> Void
    private var consumer: Consumer?

    /// - Parameters:
    ///   - number: tells apart those of one connection.
    ///   - answer: called once, with nil if there is no answer to be had.
    init(_ client: BrokerClient, number: Int, answer: @escaping (Int?) -> Void) {
        self.answer = answer
        self.consumer = client.consume(
            queue: FleetTopology.dead,
            prefetch: 0,
            consumerTag: "pushfleet-dead-count-\(number)",
            delegate: self
        )
    }

    private func end(_ count: Int?) {
        guard let consumer = self.consumer.take() else { return }
        consumer.cancel()
        self.answer(count)
    }
}

extension DeadLetterCount: ConsumerDelegate {
    func consumer(_: Consumer, didReceive _: consuming Delivery) {}

    func consumer(_: Consumer, didLose _: Int, _: BrokerError) {}

    func consumer(_ consumer: Consumer, didChange state: Consumer.State) {
        switch state {
        case .paused: self.end(consumer.depthWhenFound?.messages)
        case .waiting, .stopped: self.end(nil)
        case .disconnected, .starting, .consuming: break
        }
    }
}
