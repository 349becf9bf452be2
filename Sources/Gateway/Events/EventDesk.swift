internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import SNS

/// Tells what happens to endpoints, to the topics that their application names: on the exchange of events, and to the
/// topic's subscribers.
///
/// What is told because of a report of the fleet's is told until RabbitMQ has it. What is told because of a call is not
/// waited for, as with Amazon: the change is made by then, and a call that failed would not be told the next time either.
final class EventDesk {
    private unowned let core: GatewayLoop

    init(core: GatewayLoop) {
        self.core = core
    }

    /// - Parameter told: called once, with false if somebody wants to hear of it and it may have been lost.
    func tell(
        _ kinds: [ApplicationEvent.Kind],
        _ endpoint: EndpointName,
        _ told: @escaping (Bool) -> Void = { _ in }
    ) {
        guard !kinds.isEmpty, let arn = self.core.parts.settings.arn(endpoint) else { return told(true) }
        self.core.applications.application(endpoint.application) { [core] result in
            guard case .success(let application) = result else { return told(false) }
            let messages = kinds.flatMap { kind -> [Broker.Message] in
                guard let text = application?.attributes[kind.attribute], let topic = try? TopicARN(text) else {
                    return []
                }
                return self.messages(ApplicationEvent(kind, endpoint: arn, time: core.loop.wallTime), to: topic.name)
            }
            core.outbox.publish(all: messages) { isConfirmed in
                if isConfirmed { core.metrics.add(.events, messages.count / 2) }
                told(isConfirmed)
            }
        }
    }

    /// One for whoever listens to events, and one for the topic's subscribers.
    private func messages(_ event: ApplicationEvent, to topic: String) -> [Broker.Message] {
        let order = FanOutOrder(
            topic: topic,
            messageID: UUIDText(text: SNS.UUID.random().description),
            publishedAt: event.time.milliseconds,
            message: SNS.Message(text: event.message, subject: String(event.subject.prefix(99)))
        )
        let arn = self.core.parts.settings.arn(topic: topic)
        return [Notification.event(order, event.message, topic: arn), Publishing.message(order)]
    }
}
