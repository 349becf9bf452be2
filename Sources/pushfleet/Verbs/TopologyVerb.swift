internal import ArgumentParser
internal import Broker
internal import Store
internal import Worker

/// `pushfleet topology`: the exchanges, queues and budgets that the configuration calls for.
struct TopologyVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topology",
        abstract: "Declare, verify or show the exchanges and queues in RabbitMQ and the budgets in Redis.",
        discussion: """
            Run declare once before the first worker, and again whenever an app is added or
            a retry setting changes. The apps in Redis (pushfleet app) count like those of
            the file. Workers declare nothing, so they need no permission to
            configure.

            Example:
              pushfleet topology declare --config pushfleet.yaml
              pushfleet topology verify
              pushfleet topology show --json
            """,
        subcommands: [Declare.self, Verify.self, Show.self]
    )

    struct Declare: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create what is missing in RabbitMQ and Redis. What is there stays as it is.",
            discussion: """
                A new budget is told that no worker runs yet, so that the first one need not
                wait for one lease time. The exit code is 1 if something could not be declared.

                Example:
                  pushfleet topology declare --config pushfleet.yaml
                """
        )

        @OptionGroup var config: ConfigurationOption
        @OptionGroup var json: JSONFlag

        func run() async throws {
            let settings = try await self.config.requireFleet([.servers], for: "topology").settings
            let topology = settings.topology
            let differences = try await settings.askBroker(for: "topology") { broker throws(BrokerError) in
                try await broker.declare(topology)
            }
            var report = TopologyReport(topology, differences: differences)
            report.budgets = try await self.initialize(settings)
            try report.tell(asJSON: self.json.isOn, isVerified: false)
        }

        private func initialize(_ settings: FleetSettings) async throws -> [TopologyReport.BudgetState] {
            let redis = try await settings.openRedis(for: "topology")
            defer { redis.close() }
            guard let server = await redis.server() else { throw VerbFailure("Redis went away") }
            var states: [TopologyReport.BudgetState] = []
            for budget in settings.budgets {
                do throws(RedisFailure) {
                    let isNew = try await redis.run(budget.initialize(on: server)).integer == 1
                    states.append(.init(pool: budget.pool, connections: budget.connections, isNew: isNew))
                } catch {
                    throw VerbFailure("cannot set up the budget \(budget.pool): \(error)")
                }
            }
            return states
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare RabbitMQ with the configuration, and change nothing.",
            discussion: """
                AMQP can compare exchanges and queues; bindings cannot be asked for. The exit
                code is 1 if anything is missing or different.

                Example:
                  pushfleet topology verify --config pushfleet.yaml
                """
        )

        @OptionGroup var config: ConfigurationOption
        @OptionGroup var json: JSONFlag

        func run() async throws {
            let settings = try await self.config.requireFleet([.servers], for: "topology").settings
            let topology = settings.topology
            let differences = try await settings.askBroker(for: "topology") { broker throws(BrokerError) in
                try await broker.verify(topology, comparingArguments: true)
            }
            try TopologyReport(topology, differences: differences).tell(asJSON: self.json.isOn, isVerified: true)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what the configuration calls for, without asking RabbitMQ.",
            discussion: """
                Redis is asked which apps it has; without Redis it goes on and says so.

                Example:
                  pushfleet topology show --config pushfleet.yaml
                """
        )

        @OptionGroup var config: ConfigurationOption
        @OptionGroup var json: JSONFlag

        func run() async throws {
            let settings = try await self.config.requireFleet([], for: "topology").settings
            var report = TopologyReport(settings.topology, differences: [])
            report.budgets = settings.budgets.map { .init(pool: $0.pool, connections: $0.connections, isNew: nil) }
            if self.json.isOn {
                try Terminal.print(json: report)
            } else {
                Terminal.print(report.lines())
            }
        }
    }
}
