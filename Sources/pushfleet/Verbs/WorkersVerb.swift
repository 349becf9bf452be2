internal import ArgumentParser
internal import Desk
internal import Store
internal import Worker

/// `pushfleet workers`: who is there.
struct WorkersVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers",
        abstract: "Show all workers by their last heartbeat.",
        discussion: """
            State: works; waits, for a lease: others have all connections; drains, on its
            way out; silent: nothing was heard of it for more than 10 s. One that is silent
            for 60 s is not shown any more; its connections are back after budget.lease.

            Example:
              pushfleet workers
              pushfleet workers --json | jq -r '.workers[] | select(.state == "silent").id'
            """
    )

    @OptionGroup var config: ConfigurationOption
    @Option(help: "How long to wait for an answer.", transform: Duration.argument)
    var timeout: Duration = .seconds(10)
    @OptionGroup var json: JSONFlag

    func run() async throws {
        let settings = try self.config.require([.servers]).settings
        let redis = try await settings.openRedis(for: "workers", timeout: self.timeout)
        defer { redis.close() }
        let report = WorkersReport(try await settings.readFleet(from: redis))
        if self.json.isOn { return try Terminal.print(json: report) }
        Terminal.print(report.lines())
    }
}
