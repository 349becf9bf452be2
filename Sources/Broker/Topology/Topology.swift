/// Exchanges, queues and bindings as they should be. All of them are durable.
package struct Topology: Equatable, Sendable {
    package struct Exchange: Hashable, Sendable {
        package var name: String
        package var kind: Kind
        package var arguments: [Header]

        package enum Kind: String, Sendable {
            case topic, fanout, direct
        }

        package init(_ name: String, _ kind: Kind, arguments: [Header] = []) {
            self.name = name
            self.kind = kind
            self.arguments = arguments
        }
    }

    package struct Queue: Hashable, Sendable {
        package var name: String
        package var arguments: [Header]

        package init(_ name: String, arguments: [Header] = []) {
            self.name = name
            self.arguments = arguments
        }
    }

    package struct Binding: Hashable, Sendable {
        package var queue: String
        package var exchange: String
        package var routingKey: String

        package init(queue: String, exchange: String, routingKey: String = "") {
            self.queue = queue
            self.exchange = exchange
            self.routingKey = routingKey
        }
    }

    package var exchanges: [Exchange]
    package var queues: [Queue]
    package var bindings: [Binding]
    /// Bindings of former versions that must be there no more.
    package var removedBindings: [Binding] = []

    package init(exchanges: [Exchange] = [], queues: [Queue] = [], bindings: [Binding] = []) {
        self.exchanges = exchanges
        self.queues = queues
        self.bindings = bindings
    }
}

/// One way in which the broker is not as a topology says.
package struct TopologyDifference: Equatable, Sendable, CustomStringConvertible {
    package enum Item: Equatable, Sendable {
        case exchange(String)
        case queue(String)
        case binding(Topology.Binding)
    }

    package enum Problem: Equatable, Sendable {
        case missing
        /// It is there with other arguments, which cannot be changed; the broker's words say which.
        case differs(String)
        /// We may not look or declare; the broker's words.
        case notPermitted(String)
        /// Another answer of the broker.
        case failed(String)
    }

    package let item: Item
    package let problem: Problem

    package var description: String {
        let name =
            switch self.item {
            case .exchange(let name): "exchange \(name)"
            case .queue(let name): "queue \(name)"
            case .binding(let binding): "binding of \(binding.queue) to \(binding.exchange)"
            }
        return switch self.problem {
        case .missing: "\(name) is missing"
        case .differs(let text): "\(name) differs: \(text)"
        case .notPermitted(let text): "\(name): not permitted: \(text)"
        case .failed(let text): "\(name): \(text)"
        }
    }

    init(_ item: Item, _ error: BrokerError) {
        self.item = item
        self.problem =
            switch error {
            case .channelClosed(code: 404, _): .missing
            case .channelClosed(code: 406, let text): .differs(text)
            case .channelClosed(code: 403, let text): .notPermitted(text)
            default: .failed(error.description)
            }
    }
}
