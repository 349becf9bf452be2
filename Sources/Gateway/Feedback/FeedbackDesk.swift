internal import Broker
internal import Push
internal import Registry
internal import SNS

/// Disables endpoints whose token is gone, by the timestamp rule: never one that was registered after the time that
/// Apple names. Suspect tokens do not come here.
final class FeedbackDesk {
    private unowned let core: GatewayLoop
    private var intake: ReportIntake!

    init(core: GatewayLoop) {
        self.core = core
        self.intake = ReportIntake(
            core: core,
            // Without a time nobody can tell whether the token was registered since.
            accepts: { $0.invalidSince != nil },
            handle: { [unowned self] in self.disable($0, of: $1, $2) }
        )
    }

    func start(_ client: BrokerClient) {
        self.intake.start(client, queue: GatewayTopology.feedback, prefetch: 200, consumerTag: "feedback")
    }

    private func disable(
        _ report: TokenReport,
        of application: ApplicationName,
        _ settle: @escaping ReportIntake.Settle
    ) {
        guard let since = report.invalidSince else { return settle(.success(())) }
        let verdict = TokenVerdict(
            application,
            token: EndpointToken(report.token),
            invalidSince: UnixTime(milliseconds: since)
        )
        self.core.registry.disable(verdict) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure: return settle(.failure(ReportIntake.RedisIsAway()))
            case .success(.disabled(let endpoint)):
                let name = EndpointName(application: application, id: endpoint)
                self.core.metrics.add(.endpointsDisabled)
                self.core.events.tell(.endpointUpdated, name)
                self.tellFailure(name, report)
            case .success(.alreadyDisabled(let endpoint)):
                self.tellFailure(EndpointName(application: application, id: endpoint), report)
            case .success(.otherToken), .success(.registeredLater), .success(.noEndpoint): break
            }
            settle(.success(()))
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
}
