internal import APNs
internal import ArgumentParser
internal import Desk
internal import Worker

/// `pushfleet doctor`: is everything as it should be, and if not, what to do.
struct DoctorVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Check configuration, keys, clock, RabbitMQ, Redis and the way to Apple, and say how to fix what fails.",
        discussion: """
            Shows every configuration value with where it comes from, then one line per
            check: ok, warn or FAIL. Nothing is changed and no push is sent. The exit code
            is 1 if anything failed.

            Example:
              pushfleet doctor --config pushfleet.yaml
              pushfleet doctor --json | jq '.checks[] | select(.state == "fail")'
              pushfleet doctor --keys
            """
    )

    @OptionGroup var config: ConfigurationOption
    @Flag(help: "Only list every configuration key with its type, default and meaning.")
    var keys = false
    @Option(help: "How long each check of a server may take.", transform: Duration.argument)
    var timeout: Duration = .seconds(10)
    @OptionGroup var json: JSONFlag

    func run() async throws {
        if self.keys {
            if self.json.isOn {
                try Terminal.print(json: ["keys": KeyReport.all])
            } else {
                Terminal.print(KeyReport.lines())
            }
            return
        }
        let loaded = ConfigurationLoader().load(option: self.config.file, needs: [.servers, .keys])
        var report = DoctorReport(loaded)
        var fleet = FleetConfiguration(loaded)
        if loaded.errors.isEmpty { await fleet.ask(for: "doctor", timeout: self.timeout) }
        var own = loaded
        own.problems = fleet.loaded.problems
        report.add(ConfigurationCheckup.findings(own))
        report.add(ConfigurationCheckup.findings(stored: fleet))
        let checkup = Checkup(settings: fleet.settings, timeout: self.timeout)
        await checkup.run { report.add($0) }
        if self.json.isOn {
            try Terminal.print(json: report)
        } else {
            Terminal.print(report.lines(palette: .standardOutput()))
        }
        if report.failed > 0 { throw ExitCode(loaded.errors.isEmpty ? 1 : VerbFailure.configuration) }
    }
}
