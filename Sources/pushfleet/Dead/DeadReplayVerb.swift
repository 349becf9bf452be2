internal import ArgumentParser
internal import Desk
internal import Push

/// `pushfleet dead replay`.
struct DeadReplayVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Publish dead letters again, as they are, and take them off the queue.",
        discussion: """
            Letters begin a new life: published now, no attempt made, message id kept.
            What workers would refuse once more stays, with the reason. It shows what it
            is about to do and asks first. What dies meanwhile is not touched.

            Each letter is taken off the queue when RabbitMQ has confirmed its copy.
            Ctrl-C stops in good order. Stopped, killed or cut off: run it again within a
            day. Nothing is lost, and what was published already is not sent twice, as
            long as workers have Redis.

            Example:
              pushfleet dead replay 1c9a2f0b6d3e48579a0b1c2d
              pushfleet dead replay --app com.example.shop --newer-than 2h --dry-run
              pushfleet dead replay --reason retry_limit --rate 200 --yes
            """
    )

    @OptionGroup var selection: DeadSelection
    @Option(help: "Letters per second, 1 to 100000.")
    var rate: Int = 500
    @Flag(help: "Say what would be done, and which letters are still bad; change nothing.")
    var dryRun = false
    @Flag(help: "Do not ask.")
    var yes = false
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    func validate() throws {
        guard (1...100_000).contains(self.rate) else { throw ValidationError("'--rate' must be 1 to 100000") }
    }

    func run() async throws {
        let access = try await DeadAccess.open(self.config, asksForApps: true)
        let (rules, rate) = (access.rules, self.rate)
        let plan = try await DeadPlan.make(self.selection, access, rules: rules)
        guard !plan.ids.isEmpty else { return try self.tellNothing() }
        plan.tell(self.dryRun ? "would replay" : "about to replay")
        if self.dryRun {
            if self.json.isOn { try Terminal.print(ascii: DeadJobReport(plan)) }
            return
        }
        guard plan.refused < plan.letters else {
            throw VerbFailure(
                "nothing was replayed: all letters are still bad; mend them with pushfleet dead edit, or purge them"
            )
        }
        try Consent.require("yes", to: "Replay at \(rate) letters a second?", isGiven: self.yes)
        let report = try await DeadJob.run("replayed") { stop, progress in
            await access.desk.replay(plan.ids, rules: rules, rate: rate, stop: stop, progress: progress)
        }
        try DeadJob.end(report, "replayed", isJSON: self.json.isOn)
    }

    private func tellNothing() throws {
        Terminal.say("no dead letter fits; nothing to replay")
        if self.json.isOn { try Terminal.print(ascii: DeadJobReport(DeadPlan())) }
    }
}
