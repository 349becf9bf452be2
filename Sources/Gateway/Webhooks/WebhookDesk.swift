internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import SNS

/// Takes messages for single subscribers out of RabbitMQ and delivers them. A delivery is open until the subscriber has the
/// message, or it waits in RabbitMQ for another attempt, or lies in the dead-letter queue: a gateway that dies loses none.
final class WebhookDesk {
    /// Messages at one gateway at a time.
    private static let width = 256
    /// Of these for one subscriber's host, beyond those under way; more go back to wait, so that one host that is slow
    /// does not stop all others.
    private static let lineLimit = 24

    private struct Line {
        var active = 0
        var waiting: [(id: DeliveryID, order: WebhookOrder)] = []
    }

    private unowned let core: GatewayLoop
    private let sender: WebhookSender
    private var consumer: Consumer?
    private var lines: [String: Line] = [:]

    init(core: GatewayLoop, sender: WebhookSender) {
        self.core = core
        self.sender = sender
    }

    func start(_ client: BrokerClient) {
        self.consumer = client.consume(
            queue: GatewayTopology.webhooks,
            prefetch: Self.width,
            consumerTag: "webhooks",
            delegate: self
        )
    }

    private func take(_ id: DeliveryID, _ body: [UInt8]) {
        guard let order = WebhookOrder(body: body) else {
            // Nobody can read it; the queue's own rule makes it a dead letter.
            self.consumer?.reject(id, requeue: false)
            return
        }
        if let due = order.dueAt, due > self.core.loop.wallTime.milliseconds { return self.wait(id, order) }
        guard let url = WebhookURL(order.endpoint) else { return self.enqueue(id, order) }
        var line = self.lines[url.host] ?? Line()
        if line.active < self.core.parts.settings.webhooks.requestsPerHost {
            line.active += 1
            self.lines[url.host] = line
            self.post(id, order, host: url.host)
        } else if line.waiting.count < Self.lineLimit {
            line.waiting.append((id, order))
            self.lines[url.host] = line
        } else {
            var later = order
            later.dueAt = self.core.loop.wallTime.milliseconds + 5000
            self.wait(id, later)
        }
    }

    // MARK: Subscribers of http and https

    private func post(_ id: DeliveryID, _ order: WebhookOrder, host: String) {
        let request = WebhookRequest(order, settings: self.core.parts.settings, signer: self.core.signer)
        let desk = LoopBound(self, to: self.core.loop)
        let (sender, remote) = (self.sender, self.core.loop.remote)
        Task.detached {
            let outcome = await sender.post(request, to: order.endpoint, attempt: order.attempts)
            remote.post { desk.value.posted(id, order, host, outcome) }
        }
    }

    private func posted(_ id: DeliveryID, _ order: WebhookOrder, _ host: String, _ outcome: WebhookOutcome) {
        self.settle(id, order, outcome)
        guard var line = self.lines[host] else { return }
        line.active -= 1
        if let next = line.waiting.first {
            line.waiting.removeFirst()
            line.active += 1
            self.lines[host] = line
            self.post(next.id, next.order, host: host)
        } else {
            self.lines[host] = line.active == 0 ? nil : line
        }
    }

    // MARK: Subscribers of sqs, with a dead-letter queue

    private func enqueue(_ id: DeliveryID, _ order: WebhookOrder) {
        guard let queue = QueueARN(order.endpoint)?.name else {
            return self.settle(id, order, .failed("The endpoint is no queue", code: "queue", isFinal: true))
        }
        let message = Notification(order, settings: self.core.parts.settings).message(
            toQueue: queue,
            isMandatory: true,
            signer: self.core.signer
        )
        let isTaken = self.core.outbox.publish(message) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .confirmed: self.settle(id, order, .delivered)
            case .failed(let reason) where reason.hasPrefix("returned"):
                self.settle(id, order, .failed("There is no such queue", code: "queue", isFinal: true))
            case .failed, .unknown: self.giveBack(id)
            }
        }
        if !isTaken { self.giveBack(id) }
    }

    // MARK: What becomes of it

    private func settle(_ id: DeliveryID, _ order: WebhookOrder, _ outcome: WebhookOutcome) {
        guard case .failed(let reason, let code, let isFinal) = outcome else {
            self.core.metrics.add(.webhooksDelivered)
            self.consumer?.ack(id)
            return
        }
        self.core.metrics.add(.webhooksFailed)
        if !isFinal, let next = order.next(at: self.core.loop.wallTime) { return self.wait(id, next) }
        guard let queue = order.deadLetterQueue else {
            self.core.metrics.add(.webhooksLost)
            self.consumer?.ack(id)
            return
        }
        var message = Notification(order, settings: self.core.parts.settings).message(
            toQueue: queue,
            isMandatory: true,
            signer: self.core.signer
        )
        message.properties.headers += [
            Header("ErrorCode", .string(code)), Header("ErrorMessage", .string(reason)),
            Header("RequestID", .string(order.messageID)),
        ]
        self.replace(id, message) { desk, isThere in
            desk.core.metrics.add(isThere ? .webhooksDeadLettered : .webhooksLost)
        }
    }

    /// Puts it where it waits until it is due, or a part of that.
    private func wait(_ id: DeliveryID, _ order: WebhookOrder) {
        self.replace(id, order.message(at: self.core.loop.wallTime)) { _, _ in }
    }

    /// Publishes another message for the delivery; only then is that one done.
    /// - Parameter done: called with false if there is no queue for it.
    private func replace(
        _ id: DeliveryID,
        _ message: Broker.Message,
        _ done: @escaping (WebhookDesk, Bool) -> Void
    ) {
        let isTaken = self.core.outbox.publish(message) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .confirmed:
                self.consumer?.ack(id)
                done(self, true)
            case .failed(let reason) where reason.hasPrefix("returned"):
                self.consumer?.ack(id)
                done(self, false)
            case .failed, .unknown: self.giveBack(id)
            }
        }
        if !isTaken { self.giveBack(id) }
    }

    /// The broker takes nothing now: a moment later it goes back, to whoever can.
    private func giveBack(_ id: DeliveryID) {
        self.core.loop.after(.seconds(1)) { [weak self] in self?.consumer?.reject(id, requeue: true) }
    }
}

extension WebhookDesk: ConsumerDelegate {
    func consumer(_: Consumer, didReceive delivery: consuming Delivery) {
        self.take(delivery.id, delivery.body)
    }

    /// What is under way ends by itself; what waits comes again.
    func consumer(_: Consumer, didLose _: Int, _: BrokerError) {
        for host in self.lines.keys { self.lines[host]?.waiting = [] }
    }

    func consumer(_: Consumer, didChange _: Consumer.State) {}
}
