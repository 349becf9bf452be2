internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import SNS
internal import Store

/// Turns receipts of applications that want it into delivery status, as Amazon logs it, and into failure events.
final class ReceiptDesk {
    private unowned let core: GatewayLoop
    private var consumer: Consumer?

    init(core: GatewayLoop) {
        self.core = core
    }

    func start(_ client: BrokerClient) {
        self.consumer = client.consume(
            queue: GatewayTopology.receipts,
            prefetch: 500,
            consumerTag: "receipts",
            delegate: self
        )
    }

    /// Whether pushes for an application shall be told of one by one.
    static func wantsReceipts(_ application: PlatformApplication) -> Bool {
        ["SuccessFeedbackRoleArn", "FailureFeedbackRoleArn", "EventDeliveryFailure"].contains {
            !(application.attributes[$0] ?? "").isEmpty
        }
    }

    private func take(_ id: DeliveryID, _ body: [UInt8], _ consumer: Consumer) {
        guard let report = TokenReport(body: body) else {
            consumer.ack(id)
            return
        }
        self.core.applications.name(ofApp: report.app) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure: self.retry(id, consumer)
            case .success(nil): consumer.ack(id)
            case .success(let name?): self.find(report, of: name, id, consumer)
            }
        }
    }

    private func find(_ report: TokenReport, of name: ApplicationName, _ id: DeliveryID, _ consumer: Consumer) {
        self.core.registry.endpoint(with: EndpointToken(report.token), of: name) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure: self.retry(id, consumer)
            case .success(nil): consumer.ack(id)
            case .success(let endpoint?):
                self.core.applications.application(name) { result in
                    if case .success(let application?) = result { self.tell(report, endpoint.name, application) }
                    consumer.ack(id)
                }
            }
        }
    }

    private func tell(_ report: TokenReport, _ endpoint: EndpointName, _ application: PlatformApplication) {
        let isDelivered = report.outcome == "delivered"
        if report.outcome == "dead_lettered", let message = report.directMessageID {
            let type = FailureType(deadLetter: report.reason ?? "")
            let attempts = report.attempts ?? 0
            self.core.events.tell(.deliveryFailure(type, attempts: attempts, messageID: message), endpoint)
        }
        let attribute = isDelivered ? "SuccessFeedbackRoleArn" : "FailureFeedbackRoleArn"
        guard !(application.attributes[attribute] ?? "").isEmpty, let id = report.publishedID else { return }
        if isDelivered {
            let rate = application.attributes["SuccessFeedbackSampleRate"].flatMap { Int($0) } ?? 100
            guard Int.random(in: 0..<100) < rate else { return }
        }
        guard let destination = self.core.parts.settings.arn(endpoint) else { return }
        let latency = Duration.milliseconds(report.latency ?? 0)
        let status = DeliveryStatus(
            isSuccess: isDelivered,
            messageID: id,
            topic: nil,
            published: self.core.loop.wallTime - latency,
            statusCode: isDelivered ? 200 : report.outcome == "token_gone" ? 410 : 400,
            dwell: latency,
            token: report.token,
            attempts: report.attempts ?? 0,
            providerResponse: report.apnsReason ?? report.reason ?? "",
            endpoint: destination
        )
        let message = Broker.Message(
            exchange: GatewayTopology.status,
            routingKey: report.app,
            body: Array(status.record.utf8)
        )
        _ = self.core.outbox.publish(message) { _ in }
    }

    private func retry(_ id: DeliveryID, _ consumer: Consumer) {
        self.core.loop.after(.seconds(1)) { consumer.reject(id, requeue: true) }
    }
}

extension ReceiptDesk: ConsumerDelegate {
    func consumer(_ consumer: Consumer, didReceive delivery: consuming Delivery) {
        self.take(delivery.id, delivery.body, consumer)
    }

    func consumer(_: Consumer, didLose _: Int, _: BrokerError) {}

    func consumer(_: Consumer, didChange _: Consumer.State) {}
}

extension FailureType {
    /// - Parameter reason: of a dead letter, in the fleet's words.
    fileprivate init(deadLetter reason: String) {
        switch reason {
        case "suspect_token": self = .invalidPlatformToken
        case "expired", "age_limit", "retry_limit": self = .timeToLiveExpired
        case "payload_too_large", "payload_lint", "invalid_field", "invalid_json": self = .invalidNotification
        default: self = .unexpectedFailure
        }
    }
}
