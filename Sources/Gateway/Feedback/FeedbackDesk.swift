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
            case .failure: settle(.failure(ReportIntake.ServerIsAway()))
            case .success(.disabled(let endpoint)):
                self.core.metrics.add(.endpointsDisabled)
                self.tell(EndpointName(application: application, id: endpoint), report, isNew: true, settle)
            case .success(.alreadyDisabled(let endpoint)):
                // Perhaps by this very report, and whoever did it did not come to tell.
                let name = EndpointName(application: application, id: endpoint)
                self.tell(name, report, isNew: report.isRepeated, settle)
            case .success(.otherToken), .success(.registeredLater), .success(.noEndpoint): settle(.success(()))
            }
        }
    }

    /// - Parameter isNew: whether the endpoint was enabled until now.
    private func tell(
        _ name: EndpointName,
        _ report: TokenReport,
        isNew: Bool,
        _ settle: @escaping ReportIntake.Settle
    ) {
        var kinds: [ApplicationEvent.Kind] = isNew ? [.endpointUpdated] : []
        if let message = report.directMessageID {
            let attempts = report.attempts ?? 1
            kinds.append(.deliveryFailure(.invalidPlatformToken, attempts: attempts, messageID: message))
        }
        self.core.events.tell(kinds, name) { settle($0 ? .success(()) : .failure(ReportIntake.ServerIsAway())) }
    }
}
