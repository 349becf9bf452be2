internal import Broker
internal import Loop
internal import Push

/// Takes orders from RabbitMQ and works on a few at a time. A delivery is the lease of its order: while it is open,
/// no other gateway gets the order, and when this one is gone another does.
final class FanOutDesk {
    /// Orders under way at a time: a large one must not hold up small ones for long.
    private static let width = 8

    private unowned let core: GatewayLoop
    private var consumer: Consumer?
    private var jobs: [DeliveryID: FanOutJob] = [:]

    init(core: GatewayLoop) {
        self.core = core
    }

    func start(_ client: BrokerClient) {
        self.consumer = client.consume(
            queue: GatewayTopology.fanOut,
            prefetch: Self.width,
            consumerTag: "fanout",
            delegate: self
        )
    }

    /// Orders that are under way.
    var count: Int { self.jobs.count }

    private func take(_ delivery: Delivery, _ consumer: Consumer) {
        guard let order = FanOutOrder(body: delivery.body) else {
            // Nobody can read it; the queue's own rule makes it a dead letter.
            consumer.reject(delivery.id, requeue: false)
            return
        }
        let id = delivery.id
        let job = FanOutJob(order, core: self.core) { [weak self] end in
            guard let self else { return }
            self.jobs[id] = nil
            switch end {
            case .done: consumer.ack(id)
            // Whoever has it now finishes it; if that one fails, this delivery brings it back.
            case .lost: self.core.loop.after(.seconds(1)) { consumer.reject(id, requeue: true) }
            }
        }
        self.jobs[id] = job
        job.start()
    }
}

extension FanOutDesk: ConsumerDelegate {
    func consumer(_ consumer: Consumer, didReceive delivery: consuming Delivery) {
        self.take(delivery, consumer)
    }

    func consumer(_: Consumer, didLose _: Int, _: BrokerError) {
        for job in self.jobs.values { job.abandon() }
        self.jobs = [:]
    }

    func consumer(_: Consumer, didChange _: Consumer.State) {}
}
