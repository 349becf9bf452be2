internal import ArgumentParser
internal import Desk
internal import Worker

/// `pushfleet status`: what waits, what went through, what failed.
struct StatusVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what waits in RabbitMQ, what the fleet has done, its workers and its connections.",
        discussion: """
            If one of RabbitMQ and Redis does not answer, it shows what the other knows,
            and the exit code is 1.

            Example:
              pushfleet status --config pushfleet.yaml
              watch -n 2 pushfleet status
              pushfleet status --json \\
                  | jq '.queues[] | select(.name == "pushfleet.dead").messages'
            """
    )

    @OptionGroup var config: ConfigurationOption
    @Option(help: "How long to wait for each answer.", transform: Duration.argument)
    var timeout: Duration = .seconds(10)
    @OptionGroup var json: JSONFlag

    func run() async throws {
        let timeout = self.timeout
        let settings = try await self.config.requireFleet([.servers], for: "status", timeout: timeout).settings
        let look = await FleetLook.take(settings, for: "status", timeout: timeout)
        for problem in look.problems { Terminal.say(problem) }
        let report = StatusReport(look.snapshot, budgets: settings.budgets)
        if self.json.isOn {
            try Terminal.print(json: report)
        } else {
            Terminal.print(report.lines())
        }
        if !look.isWhole { throw ExitCode(1) }
    }
}
