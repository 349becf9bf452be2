internal import ArgumentParser
internal import Push
internal import Worker

/// `pushfleet schedule`: when a failing message is tried again.
struct ScheduleVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Print when a message that keeps failing is tried again, and when it is given up.",
        discussion: """
            Without --app the settings are the defaults, changed by the options given. With
            --app they are the app's, from the configuration, changed by the options given.

            Example:
              pushfleet schedule --min-backoff 10s --max-backoff 10m \\
                  --max-doublings 5 --age-limit 3h
              pushfleet schedule --app com.example.shop --config pushfleet.yaml --json
            """
    )

    @Option(help: "The wait before the first retry (default 10s).", transform: Duration.argument)
    var minBackoff: Duration?
    @Option(help: "The longest wait between two attempts (default 10m).", transform: Duration.argument)
    var maxBackoff: Duration?
    @Option(help: "How often the wait doubles (default 5); after that it grows by the same amount.")
    var maxDoublings: Int?
    @Option(help: "No attempt starts later than this (default 3h).", transform: Duration.argument)
    var ageLimit: Duration?
    @Option(help: "Retries at most (default: no limit).")
    var retryLimit: Int?
    @Option(help: "Take the settings of this app from the configuration.")
    var app: String?
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    func validate() throws {
        if self.config.file != nil, self.app == nil {
            throw ValidationError("--config is of use only with --app")
        }
    }

    func run() async throws {
        let report = ScheduleReport(schedule: try await self.schedule())
        if self.json.isOn {
            try Terminal.print(json: report)
        } else {
            Terminal.print(report.lines())
        }
    }

    private func schedule() async throws -> RetrySchedule {
        var base = RetrySchedule.standard
        if let name = self.app {
            let settings = try await self.config.requireFleet([], for: "schedule", lookingFor: name).settings
            guard let app = settings.apps.first(where: { $0.id == name }) else {
                throw VerbFailure.unknownApp(name, among: settings.apps.map(\.id))
            }
            base = app.retry
        }
        do throws(SettingFault) {
            return try RetrySchedule(
                minBackoff: self.minBackoff ?? base.minBackoff,
                maxBackoff: self.maxBackoff ?? base.maxBackoff,
                maxDoublings: self.maxDoublings ?? base.maxDoublings,
                ageLimit: self.ageLimit ?? base.ageLimit,
                retryLimit: self.retryLimit ?? base.retryLimit
            )
        } catch {
            throw ValidationError(error.detail)
        }
    }
}

extension VerbFailure {
    /// An option names an app that the configuration does not have.
    static func unknownApp(_ name: String, among apps: [String]) -> VerbFailure {
        let near = EditDistance.nearest(to: name.utf8, among: apps).map { "; did you mean \($0)?" }
        let list = apps.isEmpty ? "it has none" : "it has \(apps.joined(separator: ", "))"
        return VerbFailure("the configuration has no app \(Quoted.text(name.utf8, limit: 128)); \(list)\(near ?? "")")
    }
}
