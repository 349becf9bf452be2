package import Broker
internal import Loop
package import Wire

/// Why the dead letters could not be read, or a job with them did not come to its end. What was done is done, and every
/// letter that is not done with is in its queue.
package enum DeadLetterFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// Our own file of authorities.
    case context(TLSContextError)
    /// The system gave no thread or descriptor.
    case system(String)
    /// RabbitMQ cannot be reached or does not let us in.
    case unreachable(BrokerError)
    /// There is no dead-letter queue.
    case noQueue
    /// The connection ended in the middle.
    case lost(BrokerError)
    /// RabbitMQ did not go on.
    case timeout

    package var description: String {
        switch self {
        case .context(let error): error.description
        case .system(let text): text
        case .unreachable(let error): "RabbitMQ cannot be used: \(error)"
        case .noQueue: "there is no queue \(FleetTopology.dead); run pushfleet topology declare"
        case .lost(let error): "the connection to RabbitMQ ended: \(error)"
        case .timeout: "RabbitMQ did not answer in time"
        }
    }

    init(_ error: LoopError) { self = .system("\(error)") }
}
