internal import ArgumentParser
internal import Desk
internal import Loop
internal import Worker

/// `pushfleet dead show`.
struct DeadShowVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one dead letter: why it died, what to do, its headers and its body.",
        discussion: """
            It also says whether workers would take the letter as it is. Device tokens
            are shortened unless you ask for them.

            Example:
              pushfleet dead show 1c9a2f0b6d3e48579a0b1c2d
              pushfleet dead show 1c9a2f0b6d3e48579a0b1c2d --tokens --json | jq .body
            """
    )

    @Argument(help: ArgumentHelp("The letter's id, as the list shows it.", valueName: "id"))
    var id: DeadLetterID
    @Flag(help: "Show device tokens whole.")
    var tokens = false
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    func run() async throws {
        let access = try await DeadAccess.open(self.config, asksForApps: true)
        let id = self.id
        let letter = try await DeadAccess.ask { () throws(DeadLetterFailure) in try await access.desk.letter(id) }
        guard let letter else { throw VerbFailure.noDeadLetter(id) }
        let now = WallClock.now()
        let app = access.settings.apps.first { $0.id == letter.app }
        let report = DeadShowReport(
            letter,
            problem: access.rules.problem(of: letter, now: now),
            environment: access.settings.credentials.first { $0.name == app?.credential }?.environment.rawValue,
            showsTokens: self.tokens,
            now: now
        )
        if self.json.isOn { return try Terminal.print(ascii: report) }
        Terminal.print(report.lines)
    }
}

extension VerbFailure {
    static func noDeadLetter(_ id: DeadLetterID) -> VerbFailure {
        VerbFailure("no dead letter has the id \(id); it was replayed or purged, or another reader holds it")
    }
}
