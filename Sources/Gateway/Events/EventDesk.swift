internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import SNS

/// Tells what happens to endpoints, to the topics that their application names: on the exchange of events, and to the
/// topic's subscribers. Best effort, as with Amazon: nobody waits for it.
final class EventDesk {
    private unowned let core: GatewayLoop

    init(core: GatewayLoop) {
        self.core = core
    }

    func tell(
        _ kind: EndpointEvent.Kind,
        _ endpoint: EndpointName,
        _ details: [String: String] = [:],
        attempts: Int? = nil
    ) {
        guard let arn = self.core.parts.settings.arn(endpoint) else { return }
        self.core.applications.application(endpoint.application) { [core] result in
            guard case .success(let application?) = result,
                let text = application.attributes[kind.attribute], let topic = try? TopicARN(text)
            else { return }
            let event = EndpointEvent(
                kind: kind,
                endpoint: arn,
                time: core.loop.wallTime,
                details: details,
                attempts: attempts
            )
            self.publish(event, to: topic.name)
        }
    }

    /// A push to one endpoint that will never arrive.
    func tellFailure(_ endpoint: EndpointName, _ type: DeliveryFailureType, messageID: String, attempts: Int?) {
        let details = ["FailureType": type.rawValue, "FailureMessage": type.message, "MessageId": messageID]
        self.tell(.failure, endpoint, details, attempts: attempts)
    }

    private func publish(_ event: EndpointEvent, to topic: String) {
        let order = FanOutOrder(
            topic: topic,
            messageID: UUIDText(text: SNS.UUID.random().description),
            publishedAt: event.time.milliseconds,
            message: SNS.Message(text: event.message, subject: event.subject)
        )
        let notification = Notification(order, event.message, settings: self.core.parts.settings)
        for message in [notification.event(topic: topic), Publishing.message(order)] {
            _ = self.core.outbox.publish(message) { _ in }
        }
        self.core.metrics.add(.events)
    }
}
