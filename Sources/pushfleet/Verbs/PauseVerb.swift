internal import ArgumentParser
internal import Desk
internal import Push
internal import Store

/// `pushfleet pause`: stops an app everywhere, by hand.
struct PauseVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stop sending for one app on all workers; its messages wait in RabbitMQ.",
        discussion: """
            Workers see it within their next heartbeat (2 s). What is on its way to
            Apple is still answered; what only waits goes back to its queue, and no
            attempt is spent. Messages grow old meanwhile: past the app's age_limit, or
            their expires_at, they are dead-lettered once it goes on.

            Nothing ends it but pushfleet resume, or the end of --for; no probe does. An
            app that is paused by hand already gets the new reason and time.

            Example:
              pushfleet pause com.example.shop --reason "wrong campaign"
              pushfleet pause com.example.shop --for 10m
            """
    )

    @Argument(help: "The app, as the configuration names it.")
    var app: String
    @Option(help: "Why; others read it in status and in the workers' logs.")
    var reason: String = ""
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("End it by itself after this time, such as 10m.", valueName: "duration"),
        transform: Duration.argument
    )
    var time: Duration?
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    func validate() throws {
        if let time = self.time, time < .seconds(1) {
            throw ValidationError("'--for' must be at least 1s; leave it out to pause until pushfleet resume")
        }
        if self.reason.utf8.count > Self.longestReason {
            throw ValidationError("'--reason' must be at most \(Self.longestReason) bytes")
        }
    }

    func run() async throws {
        let pause = try await PauseReport.ask(self.app, "pause", self.config) { desk throws(RedisFailure) in
            try await desk.pause(self.app, for: self.time, reason: self.reason)
        }
        guard let pause else { throw VerbFailure("Redis gave an answer that is none; is it Redis?") }
        if self.json.isOn { return try Terminal.print(json: PauseReport(paused: pause)) }
        let end = self.time.map { "for \(DurationText.spoken($0))" } ?? "until pushfleet resume \(self.app)"
        Terminal.print(["\(self.app) is paused \(end)"])
    }

    /// As much as fits a line or two.
    private static let longestReason = 500
}

/// `pushfleet resume`: ends a pause by hand.
struct ResumeVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "End an app's pause by hand; if Apple's answers have paused it, probe at once.",
        discussion: """
            Workers go on within their next heartbeat (2 s). A pause that a refused
            credential or suspect tokens began ends only with a push that goes through:
            resume has one worker try it now instead of after the wait.

            An app that is not paused is no error.

            Example:
              pushfleet resume com.example.shop
            """
    )

    @Argument(help: "The app, as the configuration names it.")
    var app: String
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    func run() async throws {
        let pauses = try await PauseReport.ask(self.app, "resume", self.config) { desk throws(RedisFailure) in
            try await desk.resume(self.app)
        }
        let report = PauseReport(resumed: self.app, pauses)
        if self.json.isOn { return try Terminal.print(json: report) }
        Terminal.print(report.lines)
    }
}
