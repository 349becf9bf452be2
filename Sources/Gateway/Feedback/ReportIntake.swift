internal import Broker
internal import Loop
internal import Push
internal import Registry

/// Takes what the fleet tells of tokens from one queue, each with the application whose push it was. What nobody can read,
/// or is of no application, is acknowledged and forgotten; while Redis is away it goes back.
final class ReportIntake {
    /// Settles a report: as done, or, if Redis is away, for a later time.
    typealias Settle = (Result<Void, RedisIsAway>) -> Void

    struct RedisIsAway: Error {}

    private unowned let core: GatewayLoop
    private var consumer: Consumer?
    private let accepts: (TokenReport) -> Bool
    private let handle: (TokenReport, ApplicationName, @escaping Settle) -> Void

    /// - Parameters:
    ///   - accepts: looks at a report before anything is asked for it.
    ///   - handle: settles each report once.
    init(
        core: GatewayLoop,
        accepts: @escaping (TokenReport) -> Bool = { _ in true },
        handle: @escaping (TokenReport, ApplicationName, @escaping Settle) -> Void
    ) {
        self.core = core
        self.accepts = accepts
        self.handle = handle
    }

    func start(_ client: BrokerClient, queue: String, prefetch: Int, consumerTag: String) {
        self.consumer = client.consume(queue: queue, prefetch: prefetch, consumerTag: consumerTag, delegate: self)
    }

    private func take(_ id: DeliveryID, _ body: [UInt8], _ consumer: Consumer) {
        guard let report = TokenReport(body: body), self.accepts(report) else {
            consumer.ack(id)
            return
        }
        let settle: Settle = { [weak self] result in
            switch result {
            case .success: consumer.ack(id)
            // A moment later, to whoever can.
            case .failure: self?.core.loop.after(.seconds(1)) { consumer.reject(id, requeue: true) }
            }
        }
        self.core.applications.name(ofApp: report.app) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure: settle(.failure(RedisIsAway()))
            case .success(nil): settle(.success(()))
            case .success(let application?): self.handle(report, application, settle)
            }
        }
    }
}

extension ReportIntake: ConsumerDelegate {
    func consumer(_ consumer: Consumer, didReceive delivery: consuming Delivery) {
        self.take(delivery.id, delivery.body, consumer)
    }

    func consumer(_: Consumer, didLose _: Int, _: BrokerError) {}

    func consumer(_: Consumer, didChange _: Consumer.State) {}
}
