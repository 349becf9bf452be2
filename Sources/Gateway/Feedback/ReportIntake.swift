internal import Broker
internal import Loop
internal import Push
internal import Registry

/// Takes what the fleet tells of tokens from one queue, each with the application whose push it was. What nobody can read,
/// or is of no application, is acknowledged and forgotten.
///
/// A report is acknowledged when all that follows from it is written and confirmed. While Redis or RabbitMQ is away it
/// stays here and is worked on again: RabbitMQ counts what is given back, and since 4.0 drops what was too often.
final class ReportIntake {
    /// Settles a report: as done, or for a later time.
    typealias Settle = (Result<Void, ServerIsAway>) -> Void

    /// Redis, or RabbitMQ.
    struct ServerIsAway: Error {}

    private unowned let core: GatewayLoop
    private var consumer: Consumer?
    private let accepts: (TokenReport) -> Bool
    private let handle: (TokenReport, ApplicationName, @escaping Settle) -> Void
    /// Counts the losses of what is open: the broker hands that out again, and nobody else works on it.
    private var life = 0

    private static let pause = Duration.seconds(1)

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

    private func take(_ id: DeliveryID, _ report: TokenReport, _ consumer: Consumer) {
        let life = self.life
        let settle: Settle = { [weak self] result in
            guard let self, life == self.life else { return }
            switch result {
            case .success: consumer.ack(id)
            case .failure:
                self.core.loop.after(Self.pause) { [weak self] in
                    guard let self, life == self.life else { return }
                    self.take(id, report.again, consumer)
                }
            }
        }
        self.core.applications.name(ofApp: report.app) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure: settle(.failure(ServerIsAway()))
            case .success(nil): settle(.success(()))
            case .success(let application?): self.handle(report, application, settle)
            }
        }
    }
}

extension ReportIntake: ConsumerDelegate {
    func consumer(_ consumer: Consumer, didReceive delivery: consuming Delivery) {
        guard let report = TokenReport(body: delivery.body), self.accepts(report) else {
            consumer.ack(delivery.id)
            return
        }
        self.take(delivery.id, delivery.redelivered ? report.again : report, consumer)
    }

    func consumer(_: Consumer, didLose _: Int, _: BrokerError) { self.life += 1 }

    func consumer(_ consumer: Consumer, didChange state: Consumer.State) {
        self.core.metrics.consumes(consumer.queue, state)
    }
}
