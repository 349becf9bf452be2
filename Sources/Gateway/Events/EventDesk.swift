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

    func tell(_ kind: ApplicationEvent.Kind, _ endpoint: EndpointName) {
        guard let arn = self.core.parts.settings.arn(endpoint) else { return }
        self.core.applications.application(endpoint.application) { [core] result in
            guard case .success(let application?) = result,
                let text = application.attributes[kind.attribute], let topic = try? TopicARN(text)
            else { return }
            self.publish(ApplicationEvent(kind, endpoint: arn, time: core.loop.wallTime), to: topic.name)
        }
    }

    private func publish(_ event: ApplicationEvent, to topic: String) {
        let order = FanOutOrder(
            topic: topic,
            messageID: UUIDText(text: SNS.UUID.random().description),
            publishedAt: event.time.milliseconds,
            message: SNS.Message(text: event.message, subject: String(event.subject.prefix(99)))
        )
        let arn = self.core.parts.settings.arn(topic: topic)
        for message in [Notification.event(order, event.message, topic: arn), Publishing.message(order)] {
            _ = self.core.outbox.publish(message) { _ in }
        }
        self.core.metrics.add(.events)
    }
}
