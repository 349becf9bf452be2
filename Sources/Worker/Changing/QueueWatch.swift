internal import Broker

/// Finds out whether a queue is there, and goes on looking until it is. Takes nothing out of it.
final class QueueWatch {
    private var consumer: Consumer!
    private let onChange: () -> Void
    private(set) var isThere = false
    /// Why it is not there, as far as the broker can say.
    private(set) var problem: String?

    /// - Parameter onChange: called when there is news; not from within this call.
    init(_ queue: String, _ client: BrokerClient, onChange: @escaping () -> Void) {
        self.onChange = onChange
        // A consumer that wants nothing only looks.
        self.consumer = client.consume(queue: queue, prefetch: 0, consumerTag: "look", delegate: self)
    }

    func end() { self.consumer.cancel() }
}

extension QueueWatch: ConsumerDelegate {
    func consumer(_ consumer: Consumer, didReceive delivery: consuming Delivery) {
        consumer.reject(delivery.id, requeue: true)
    }

    func consumer(_: Consumer, didLose _: Int, _: BrokerError) {}

    func consumer(_: Consumer, didChange state: Consumer.State) {
        switch state {
        case .paused where !self.isThere:
            self.isThere = true
            self.problem = nil
            self.onChange()
        case .waiting(let error) where !self.isThere:
            self.problem = error.description
            self.onChange()
        case .paused, .waiting, .consuming, .disconnected, .starting, .stopped: break
        }
    }
}
