internal import ArgumentParser
internal import Desk
internal import Loop

/// `pushfleet dead list`.
struct DeadListVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List dead letters, the newest first, below a summary by app and reason.",
        discussion: """
            Times are in UTC, ages go by when a letter died. Without options it looks at
            all letters and shows the newest.

            Example:
              pushfleet dead list
              pushfleet dead list --summary
              pushfleet dead list --app com.example.shop --reason BadDeviceToken
              pushfleet dead list --newer-than 30m --limit 200
              pushfleet dead list --limit 0 --json | jq -r '.letters[].id'
            """
    )

    @OptionGroup var options: DeadFilterOptions
    @Option(help: "How many letters to show; 0 for all.")
    var limit: Int = 20
    @Flag(help: "Show only how many there are by app and reason.")
    var summary = false
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    func validate() throws {
        if self.limit < 0 { throw ValidationError("'--limit' must be 0 or more; 0 shows all") }
    }

    func run() async throws {
        let access = try await DeadAccess.open(self.config, asksForApps: self.options.app != nil)
        let filter = try self.options.filter(now: WallClock.now())
        let look = try await DeadAccess.ask { () throws(DeadLetterFailure) in try await access.desk.look(filter) }
        let shown = self.summary ? 0 : self.limit == 0 ? look.letters.count : self.limit
        let report = DeadListReport(look, limit: shown, now: WallClock.now())
        if self.json.isOn {
            try Terminal.print(ascii: report)
        } else {
            Terminal.print(report.lines(isSummary: self.summary))
        }
        look.tellDoubt()
        guard look.letters.isEmpty else { return }
        try self.options.requireKnownApp(access.settings)
    }
}
