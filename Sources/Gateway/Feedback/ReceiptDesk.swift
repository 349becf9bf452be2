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
    private func topic(of report: TokenReport, _ completion: @escaping (RegisteredTopic?) -> Void) {
        guard report.directMessageID == nil, let id = report.publishedID else { return completion(nil) }
        self.core.redis.send(RedisCommand("GET", Self.topicKey("\(id)"))) { [core] result in
            guard case .success(let reply) = result, let name = reply.text else { return completion(nil) }
            core.registry.topic(name) { result in completion((try? result.get()).flatMap { $0 }) }
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
            case .failure: settle(.failure(ReportIntake.RedisIsAway()))
            case .success(nil): settle(.success(()))
            case .success(let endpoint?):
                self.core.applications.application(name) { result in
                    guard case .success(let application?) = result else { return settle(.success(())) }
                    self.topic(of: report) { topic in
                        self.tell(report, endpoint.name, application, topic)
                        settle(.success(()))
                    }
                }
            }
        }
    }

    private func tell(
        _ report: TokenReport,
        _ endpoint: EndpointName,
        _ application: PlatformApplication,
        _ topic: RegisteredTopic?
    ) {
        let isDelivered = report.outcome == "delivered"
        if report.outcome == "dead_lettered", let message = report.directMessageID {
            let type = FailureType(deadLetter: report)
            let attempts = report.attempts ?? 0
            self.core.events.tell(.deliveryFailure(type, attempts: attempts, messageID: message), endpoint)
        }
        let logs = [DeliveryLog(application)] + (topic.map { [DeliveryLog($0)] } ?? [])
        let chance = Int.random(in: 0..<100)
        guard logs.contains(where: { $0.wants(isSuccess: isDelivered, chance: chance) }), let id = report.publishedID
        else { return }
        guard let destination = self.core.parts.settings.arn(endpoint) else { return }
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
        let message = Broker.Message(
            exchange: GatewayTopology.status,
            routingKey: report.app,
            body: Array(status.record.utf8)
        )
        _ = self.core.outbox.publish(message) { _ in }
    }
}
