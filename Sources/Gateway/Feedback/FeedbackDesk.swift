internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import SNS
internal import Store

/// Disables endpoints whose token is gone, by the timestamp rule: never one that was registered after the time that
/// Apple names. Suspect tokens do not come here.
final class FeedbackDesk {
    private unowned let core: GatewayLoop
    private var consumer: Consumer?

    init(core: GatewayLoop) {
        self.core = core
    }

    func start(_ client: BrokerClient) {
        self.consumer = client.consume(
            queue: GatewayTopology.feedback,
            prefetch: 200,
            consumerTag: "feedback",
            delegate: self
        )
    }

    private func take(_ id: DeliveryID, _ body: [UInt8], _ consumer: Consumer) {
        guard let report = TokenReport(body: body), let since = report.invalidSince else {
            // Without a time nobody can tell whether the token was registered since.
            consumer.ack(id)
            return
        }
        self.core.applications.name(ofApp: report.app) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure: self.retry(id, consumer)
            case .success(nil): consumer.ack(id)
            case .success(let application?):
                let verdict = TokenVerdict(
                    application,
                    token: EndpointToken(report.token),
                    invalidSince: UnixTime(milliseconds: since)
                )
                self.disable(verdict, report, id, consumer)
            }
        }
    }

    private func disable(_ verdict: TokenVerdict, _ report: TokenReport, _ id: DeliveryID, _ consumer: Consumer) {
        self.core.registry.disable(verdict) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure: return self.retry(id, consumer)
            case .success(.disabled(let endpoint)):
                let name = EndpointName(application: verdict.application, id: endpoint)
                self.core.metrics.add(.endpointsDisabled)
                self.core.events.tell(.endpointUpdated, name)
                self.tellFailure(name, report)
            case .success(.alreadyDisabled(let endpoint)):
                self.tellFailure(EndpointName(application: verdict.application, id: endpoint), report)
            case .success(.otherToken), .success(.registeredLater), .success(.noEndpoint): break
            }
            consumer.ack(id)
        }
    }

    private func tellFailure(_ name: EndpointName, _ report: TokenReport) {
        guard let message = report.directMessageID else { return }
        let attempts = report.attempts ?? 1
        self.core.events.tell(
            .deliveryFailure(.invalidPlatformToken, attempts: attempts, messageID: message),
            name
        )
    }

    /// Redis is away: a moment later it goes back, to whoever can.
    private func retry(_ id: DeliveryID, _ consumer: Consumer) {
        self.core.loop.after(.seconds(1)) { consumer.reject(id, requeue: true) }
    }
}

extension FeedbackDesk: ConsumerDelegate {
    func consumer(_ consumer: Consumer, didReceive delivery: consuming Delivery) {
        self.take(delivery.id, delivery.body, consumer)
    }

    func consumer(_: Consumer, didLose _: Int, _: BrokerError) {}

    func consumer(_: Consumer, didChange _: Consumer.State) {}
}
