internal import ArgumentParser
internal import Broker
internal import Desk
internal import Worker

/// `pushfleet status`: what waits, what went through, what failed.
struct StatusVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what waits in RabbitMQ, what the fleet has done, its workers and its connections.",
        discussion: """
            Example:
              pushfleet status --config pushfleet.yaml
              pushfleet status --json | jq '.queues[] | select(.name == "pushfleet.dead").messages'
            """
    )

    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    func run() async throws {
        let settings = try self.config.require([.servers]).settings
        let broker = try await settings.openBroker(for: "status")
        let queues = try await broker.answer { () throws(BrokerError) in
            try await QueueStatus.read(apps: settings.appIDs, delays: settings.delays, from: broker)
        }
        await broker.close()
        let report = StatusReport(queues: queues)
        if self.json.isOn {
            try Terminal.print(json: report)
        } else {
            Terminal.print(report.lines())
        }
    }
}
