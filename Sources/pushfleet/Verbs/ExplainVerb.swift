internal import ArgumentParser
internal import Push

/// `pushfleet explain`: what a reason means and what to do about it.
struct ExplainVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what an APNs reason, a status or a dead-letter reason means, and what to do about it.",
        discussion: """
            Without an argument it lists every reason there is.

            Example:
              pushfleet explain BadDeviceToken
              pushfleet explain 403
              pushfleet explain payload_too_large
              pushfleet explain --json
            """
    )

    @Argument(help: "A reason as APNs or a dead letter names it, in any letter case, or an HTTP status.")
    var reason: String?
    @OptionGroup var json: JSONFlag

    func run() throws {
        guard let reason = self.reason else {
            if self.json.isOn {
                try Terminal.print(json: ["reasons": ReasonReport.all])
            } else {
                Terminal.print(ReasonReport.overview())
            }
            return
        }
        let found = ReasonReport.find(reason)
        guard !found.isEmpty else {
            let near = ReasonReport.nearest(to: reason).map { "did you mean \($0)?" }
            throw VerbFailure(
                "no reason is called \(Quoted.text(reason.utf8)); \(near ?? "pushfleet explain lists them all")"
            )
        }
        if self.json.isOn {
            try Terminal.print(json: ["reasons": found])
        } else {
            Terminal.print(Array(found.map { $0.lines() }.joined(separator: [""])))
        }
    }
}
