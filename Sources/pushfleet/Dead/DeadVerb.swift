internal import ArgumentParser

/// `pushfleet dead`: what died, why, and back again.
struct DeadVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "List, show, replay, mend, export, import and purge dead letters.",
        discussion: """
            A message that can never succeed lies in the queue pushfleet.dead, with the
            reason in its headers, until somebody acts. Start with the list: it groups
            by app and reason. pushfleet explain says what each reason means.

            Looking takes letters and gives them back: they stay, though not in their
            order; lists go by the time of death. Only one can read at a time; meanwhile
            others see fewer letters, and are told.

            Every letter has an id, made of what it holds. It stays the same until the
            letter leaves the queue, and through export and import.

            Example:
              pushfleet dead list
              pushfleet dead list --app com.example.shop --reason apns_rejected
              pushfleet dead show 1c9a2f0b6d3e48579a0b1c2d
              pushfleet dead replay --reason age_limit --newer-than 2h --dry-run
              pushfleet dead replay --reason age_limit --newer-than 2h --rate 200
              pushfleet dead export > dead.jsonl && pushfleet dead purge

            Exit codes: 0 done, 1 not all done, or no such letter, 64 wrong usage,
            78 wrong configuration.
            """,
        subcommands: [
            DeadListVerb.self, DeadShowVerb.self, DeadReplayVerb.self, DeadEditVerb.self, DeadExportVerb.self,
            DeadImportVerb.self, DeadPurgeVerb.self,
        ],
        defaultSubcommand: DeadListVerb.self
    )
}
