internal import Broker
internal import Push
internal import SNS
internal import Store

/// When a push that is published ahead of its time is due.
struct Schedule: Equatable {
    /// From the publishing to its time.
    let wait: Duration

    /// Nil for what goes at once.
    init?(_ notBefore: UnixTime?, publishedAt: UnixTime) {
        guard let notBefore, notBefore > publishedAt else { return nil }
        self.wait = notBefore - publishedAt
    }

    /// What workers cannot hold for so long is refused here.
    func check() throws(SNSError) {
        guard self.wait <= Admission.holdLimit else {
            throw .invalidParameter(
                "MessageAttributes",
                reason: "Invalid value for attribute: \(PublishContent.notBeforeName): must be at most 30 days ahead"
            )
        }
    }

    /// What lets workers ask whether it was cancelled.
    /// - Parameter id: of what was published; its messages may have others.
    func headers(_ id: String) -> [Header] { [Header(DeliveryHeaders.scheduleName, .string(id))] }
}

extension Broker.Message {
    /// Published once more it is another publish of the same message; workers take the first that they see.
    func marked() -> Broker.Message {
        var marked = self
        marked.properties.headers.append(Header(DeliveryHeaders.onceName, .string(SNS.UUID.random().description)))
        return marked
    }
}
