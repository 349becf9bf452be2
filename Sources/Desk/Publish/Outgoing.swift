package import Push

/// A message on its way to the fleet, as any backend would publish it.
package struct Outgoing: Equatable, Sendable {
    /// `<app>.<lane>`.
    package let routingKey: String
    /// The idempotency key.
    package let messageID: String
    /// When its age begins; AMQP keeps whole seconds.
    package let timestamp: UnixTime
    /// A body of the contract, or whatever is to be tried.
    package let body: [UInt8]

    package init(routingKey: String, messageID: String, timestamp: UnixTime, body: [UInt8]) {
        self.routingKey = routingKey
        self.messageID = messageID
        self.timestamp = timestamp
        self.body = body
    }
}

/// What became of a message that was published.
package enum SendOutcome: Equatable, Sendable {
    /// The broker has it on disk, in every queue it belongs in.
    case confirmed
    /// No queue takes this routing key.
    case unroutable
    /// The broker refused it, for example because a queue is full.
    case refused
    /// The connection ended before the broker answered: it may have it or not.
    case unanswered(String)
}
