internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import SNS
internal import Store

/// Turns receipts of applications that want it into delivery status, as Amazon logs it, and into failure events.
final class ReceiptDesk {
    private unowned let core: GatewayLoop
    private var intake: ReportIntake!

    init(core: GatewayLoop) {
        self.core = core
        self.intake = ReportIntake(core: core) { [unowned self] in self.find($0, of: $1, $2) }
    }

    func start(_ client: BrokerClient) {
        self.intake.start(client, queue: GatewayTopology.receipts, prefetch: 500, consumerTag: "receipts")
    }

    /// Whether pushes to an application's endpoints shall be told of one by one.
    static func wantsReceipts(_ application: PlatformApplication) -> Bool {
        self.isLogged(application) || !(application.attributes["EventDeliveryFailure"] ?? "").isEmpty
    }

    /// The same for parts of a publish to many, of whose failures no event tells.
    static func isLogged(_ application: PlatformApplication) -> Bool { DeliveryLog(application).isOn }

    // MARK: Topics

    private static func topicKey(_ messageID: String) -> String { "pf:fanout:{\(messageID)}:topic" }

    /// A receipt names the message and not the topic.
    private static let topicLife = Duration.seconds(3 * 24 * 3600)

    /// Keeps in mind which topic a message went to; called before it is published.
    func remember(_ topic: String, of messageID: String) {
        var command = RedisCommand("SET", Self.topicKey(messageID), topic, "PX")
        command.add(Self.topicLife.milliseconds)
        self.core.redis.send(command) { _ in }
    }

    /// The topic of which the report's message is a part; nil if it was for one endpoint, or nobody remembers.
    private func topic(
        of report: TokenReport,
        _ completion: @escaping (Result<RegisteredTopic?, RedisFailure>) -> Void
    ) {
        guard report.directMessageID == nil, let id = report.publishedID else { return completion(.success(nil)) }
        self.core.redis.send(RedisCommand("GET", Self.topicKey("\(id)"))) { [core] result in
            switch result {
            case .failure(let failure): completion(.failure(failure))
            case .success(let reply):
                guard let name = reply.text else { return completion(.success(nil)) }
                core.registry.topic(name, completion)
            }
        }
    }

    private func find(
        _ report: TokenReport,
        of name: ApplicationName,
        _ settle: @escaping ReportIntake.Settle
    ) {
        self.core.registry.endpoint(with: EndpointToken(report.token), of: name) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure: settle(.failure(ReportIntake.ServerIsAway()))
            case .success(nil): settle(.success(()))
            case .success(let endpoint?): self.find(report, endpoint.name, settle)
            }
        }
    }

    private func find(_ report: TokenReport, _ endpoint: EndpointName, _ settle: @escaping ReportIntake.Settle) {
        self.core.applications.application(endpoint.application) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure: settle(.failure(ReportIntake.ServerIsAway()))
            case .success(nil): settle(.success(()))
            case .success(let application?):
                self.topic(of: report) { result in
                    guard case .success(let topic) = result else {
                        return settle(.failure(ReportIntake.ServerIsAway()))
                    }
                    self.tell(report, endpoint, application, topic, settle)
                }
            }
        }
    }

    /// Done when RabbitMQ has all of it.
    private func tell(
        _ report: TokenReport,
        _ endpoint: EndpointName,
        _ application: PlatformApplication,
        _ topic: RegisteredTopic?,
        _ settle: @escaping ReportIntake.Settle
    ) {
        var kinds: [ApplicationEvent.Kind] = []
        if report.outcome == "dead_lettered", let message = report.directMessageID {
            let type = FailureType(deadLetter: report)
            kinds.append(.deliveryFailure(type, attempts: report.attempts ?? 0, messageID: message))
        }
        let status = self.status(report, endpoint, application, topic)
        self.core.events.tell(kinds, endpoint) { [core] isTold in
            guard isTold else { return settle(.failure(ReportIntake.ServerIsAway())) }
            core.outbox.publish(all: status.map { [$0] } ?? []) { isConfirmed in
                settle(isConfirmed ? .success(()) : .failure(ReportIntake.ServerIsAway()))
            }
        }
    }

    /// Nil if nobody wants it.
    private func status(
        _ report: TokenReport,
        _ endpoint: EndpointName,
        _ application: PlatformApplication,
        _ topic: RegisteredTopic?
    ) -> Broker.Message? {
        let isDelivered = report.outcome == "delivered"
        let logs = [DeliveryLog(application)] + (topic.map { [DeliveryLog($0)] } ?? [])
        let chance = Int.random(in: 0..<100)
        guard logs.contains(where: { $0.wants(isSuccess: isDelivered, chance: chance) }),
            let id = report.publishedID, let destination = self.core.parts.settings.arn(endpoint)
        else { return nil }
        let latency = Duration.milliseconds(report.latency ?? 0)
        let status = DeliveryStatus(
            isSuccess: isDelivered,
            messageID: id,
            topic: topic.map { self.core.parts.settings.arn(topic: $0.name) },
            published: self.core.loop.wallTime - latency,
            statusCode: isDelivered ? 200 : report.outcome == "token_gone" ? 410 : 400,
            dwell: max(.zero, latency - .milliseconds(report.apnsLatency ?? 0)),
            token: report.token,
            attempts: report.attempts ?? 0,
            providerResponse: report.apnsReason ?? report.reason ?? "",
            endpoint: destination
        )
        return Broker.Message(
            exchange: GatewayTopology.status,
            routingKey: report.app,
            body: Array(status.record.utf8),
            // Who does not want it any more deletes its queue.
            isMandatory: false
        )
    }
}
