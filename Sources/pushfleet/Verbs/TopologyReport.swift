internal import ArgumentParser
internal import Broker

/// What `pushfleet topology` shows.
struct TopologyReport: Encodable {
    struct Exchange: Encodable {
        let name: String
        let type: String
        let arguments: [String: String]
    }

    struct Queue: Encodable {
        let name: String
        let arguments: [String: String]
    }

    struct Binding: Encodable {
        let queue: String
        let exchange: String
        let routingKey: String
    }

    struct BudgetState: Encodable {
        let pool: String
        let connections: Int
        /// Whether it was made just now; missing if nobody asked.
        let isNew: Bool?
    }

    struct Difference: Encodable {
        let item: String
        /// `missing`, `differs`, `not_permitted` or `failed`.
        let problem: String
        let detail: String
        let fix: String
    }

    let exchanges: [Exchange]
    let queues: [Queue]
    let bindings: [Binding]
    let differences: [Difference]
    var budgets: [BudgetState] = []

    init(_ topology: Topology, differences: [TopologyDifference]) {
        self.exchanges = topology.exchanges.map {
            Exchange(name: $0.name, type: $0.kind.rawValue, arguments: Self.texts($0.arguments))
        }
        self.queues = topology.queues.map { Queue(name: $0.name, arguments: Self.texts($0.arguments)) }
        self.bindings = topology.bindings.map {
            Binding(queue: $0.queue, exchange: $0.exchange, routingKey: $0.routingKey)
        }
        self.differences = differences.map(Difference.init)
    }

    private static func texts(_ headers: [Header]) -> [String: String] {
        Dictionary(headers.map { ($0.name, $0.value.description) }, uniquingKeysWith: { _, last in last })
    }

    /// Prints the outcome and ends the verb with 1 if there is a difference.
    func tell(asJSON: Bool, isVerified: Bool) throws {
        if asJSON {
            try Terminal.print(json: self)
        } else {
            for difference in self.differences { Terminal.say(difference.detail) }
            // Each fix once, after all that it is for.
            var fixes: [String] = []
            for difference in self.differences where !fixes.contains(difference.fix) { fixes.append(difference.fix) }
            for fix in fixes { Terminal.say("-> \(fix)") }
            let count =
                "\(self.exchanges.count) exchanges, \(self.queues.count) queues, \(self.bindings.count) bindings"
            if self.differences.isEmpty {
                Terminal.print(isVerified ? "all as it should be: \(count)" : "declared: \(count)")
            }
            for budget in self.budgets {
                let state = budget.isNew == true ? "new" : "known already"
                Terminal.print("budget \(budget.pool): \(budget.connections) connections, \(state)")
            }
        }
        if !self.differences.isEmpty { throw ExitCode(1) }
    }

    func lines() -> [String] {
        var exchanges = Table("exchange", "type", "arguments")
        for exchange in self.exchanges { exchanges.add(exchange.name, exchange.type, Self.line(exchange.arguments)) }
        var queues = Table("queue", "arguments")
        for queue in self.queues { queues.add(queue.name, Self.line(queue.arguments)) }
        var bindings = Table("queue", "exchange", "routing key")
        for binding in self.bindings { bindings.add(binding.queue, binding.exchange, binding.routingKey) }
        var budgets = Table("budget", ">connections")
        for budget in self.budgets { budgets.add(budget.pool, "\(budget.connections)") }
        return [exchanges, queues, bindings, budgets].map { $0.lines() }.joined(separator: [""]).map { $0 }
    }

    private static func line(_ arguments: [String: String]) -> String {
        arguments.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}

extension TopologyReport.Difference {
    init(_ difference: TopologyDifference) {
        let name =
            switch difference.item {
            case .exchange(let name): "exchange \(name)"
            case .queue(let name): "queue \(name)"
            case .binding(let binding): "binding of \(binding.queue) to \(binding.exchange)"
            }
        self.item = name
        self.detail = difference.description
        switch difference.problem {
        case .missing:
            self.problem = "missing"
            self.fix = "run pushfleet topology declare"
        case .differs:
            self.problem = "differs"
            self.fix =
                "it cannot be changed in place: stop publishing to it, let it run empty, delete it, and run "
                + "pushfleet topology declare"
        case .notPermitted:
            self.problem = "not_permitted"
            self.fix =
                "let this user configure it: rabbitmqctl set_permissions -p <vhost> <user> '^pushfleet' '^pushfleet' "
                + "'^pushfleet'"
        case .failed:
            self.problem = "failed"
            self.fix = "see RabbitMQ's log"
        }
    }
}
