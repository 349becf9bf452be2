internal import ArgumentParser
internal import Desk

/// `pushfleet dead purge`.
struct DeadPurgeVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Delete dead letters for good.",
        discussion: """
            It shows what it is about to delete, and asks for the number of letters to be
            typed. What dies meanwhile is not touched. Export first what may be missed.

            Example:
              pushfleet dead purge --reason expired --older-than 7d
              pushfleet dead purge 1c9a2f0b6d3e48579a0b1c2d --yes
            """
    )

    @OptionGroup var selection: DeadSelection
    @Flag(help: "Do not ask.")
    var yes = false
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    func run() async throws {
        let access = try await DeadAccess.open(self.config, asksForApps: self.selection.options.app != nil)
        let plan = try await DeadPlan.make(self.selection, access, rules: nil)
        guard !plan.ids.isEmpty else {
            Terminal.say("no dead letter fits; nothing to delete")
            if self.json.isOn { try Terminal.print(ascii: DeadJobReport(plan)) }
            return
        }
        plan.tell("about to delete")
        try Consent.require("\(plan.letters)", to: "This cannot be undone.", isGiven: self.yes)
        let report = try await DeadJob.run("deleted") { stop, progress in
            await access.desk.purge(plan.ids, stop: stop, progress: progress)
        }
        try DeadJob.end(report, "deleted", isJSON: self.json.isOn)
    }
}
