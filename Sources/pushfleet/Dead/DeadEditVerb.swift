internal import ArgumentParser
internal import Desk
internal import Foundation
internal import Loop
internal import Push
internal import Worker

/// `pushfleet dead edit`.
struct DeadEditVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Mend one dead letter and publish it again.",
        discussion: """
            At a terminal the body opens in $VISUAL or $EDITOR; elsewhere give it with
            --body. It is checked as a worker would, and if it is still bad, nothing is
            published and the letter stays as it was. Message id and headers are kept.

            With --app or --lane it goes to another queue; the body's app must be the
            same. With --dry-run it is only checked.

            Example:
              pushfleet dead edit 1c9a2f0b6d3e48579a0b1c2d
              pushfleet dead show 1c9a2f0b6d3e48579a0b1c2d --tokens --json \\
                  | jq -r .body | jq -c 'del(.expires_at)' \\
                  | pushfleet dead edit 1c9a2f0b6d3e48579a0b1c2d --body -
            """
    )

    @Argument(help: ArgumentHelp("The letter's id, as the list shows it.", valueName: "id"))
    var id: DeadLetterID
    @Option(help: ArgumentHelp("A file with the new body; - is standard input.", valueName: "file"))
    var body: String?
    @Option(help: "Publish it to this app's queue.")
    var app: String?
    @Option(help: "Publish it to this lane: now or bulk.")
    var lane: Lane?
    @Flag(help: "Check the payload against Apple's keys and types too, as for apps with lint: strict.")
    var lint = false
    @Flag(help: "Check it and publish nothing.")
    var dryRun = false
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    struct Report: Encodable, Equatable {
        let id: String
        let routingKey: String
        let replayed: Bool
    }

    func run() async throws {
        let access = try await DeadAccess.open(self.config, asksForApps: true)
        if let app = self.app, !access.settings.apps.contains(where: { $0.id == app }) {
            throw VerbFailure.unknownApp(app, among: access.settings.apps.map(\.id))
        }
        let id = self.id
        let letter = try await DeadAccess.ask { () throws(DeadLetterFailure) in try await access.desk.letter(id) }
        guard let letter else { throw VerbFailure.noDeadLetter(id) }
        let body = try self.newBody(letter)
        let rules = self.lint ? access.rules.strict : access.rules
        let key = DeadLetterDesk.routingKey(of: letter, app: self.app, lane: self.lane)
        if let problem = rules.problem(routingKey: key, body: body ?? letter.body, now: WallClock.now()) {
            throw Self.refused(problem)
        }
        if !self.dryRun {
            let (app, lane) = (self.app, self.lane)
            let edit = try await DeadAccess.ask { () throws(DeadLetterFailure) in
                try await access.desk.edit(id, body: body, app: app, lane: lane, rules: rules)
            }
            switch edit {
            case .replayed: break
            case .refused(let problem): throw Self.refused(problem)
            case .missing: throw VerbFailure.noDeadLetter(id)
            case .failed(let trouble): throw VerbFailure("the letter stays as it was: \(trouble)")
            }
        }
        if self.json.isOn {
            return try Terminal.print(ascii: Report(id: "\(id)", routingKey: key, replayed: !self.dryRun))
        }
        let shown = DeadListReport.Cell.text(key, limit: 255)
        Terminal.print(
            self.dryRun ? "workers would take it from \(shown)" : "published to \(shown); the letter is gone"
        )
    }

    private static func refused(_ problem: Refusal) -> VerbFailure {
        VerbFailure("still bad, nothing was published and the letter stays as it was: \(problem.sentence)")
    }

    // MARK: The body

    /// Nil if it stays as it was and only the queue changes.
    private func newBody(_ letter: DeadLetter) throws -> [UInt8]? {
        if let file = self.body {
            let data =
                file == "-" ? try FileHandle.standardInput.readToEnd() : FileManager.default.contents(atPath: file)
            guard let data else {
                throw VerbFailure(
                    "cannot read \(file == "-" ? "standard input" : file); give --body a file with the body"
                )
            }
            return Self.trimmed([UInt8](data))
        }
        if self.app != nil || self.lane != nil { return nil }
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            throw VerbFailure("there is no terminal for an editor; give the new body with --body FILE, or --body -")
        }
        let body = Self.trimmed(try DeadEditor.edit(letter.body))
        guard body != letter.body else { throw VerbFailure("nothing was changed, and nothing published") }
        return body
    }

    /// Editors and shells end a text with a line feed, which is no part of the body.
    private static func trimmed(_ body: [UInt8]) -> [UInt8] {
        body.last == UInt8(ascii: "\n") ? Array(body.dropLast()) : body
    }
}

/// Opens an editor on a text.
enum DeadEditor {
    /// - Returns: the text as it is when the editor ends.
    static func edit(_ body: [UInt8]) throws -> [UInt8] {
        var template = Array("\(FileManager.default.temporaryDirectory.path)/pushfleet-dead-XXXXXX.json".utf8CString)
        // Only the owner may read it: it holds device tokens.
        let descriptor = mkstemps(&template, 5)
        guard descriptor >= 0 else { throw VerbFailure("cannot make a file for the editor; give --body instead") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(path) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(body))
        setenv("PUSHFLEET_EDITED_FILE", path, 1)
        let status = system("${VISUAL:-${EDITOR:-vi}} \"$PUSHFLEET_EDITED_FILE\"")
        guard status == 0 else { throw VerbFailure("the editor failed, and nothing was published; is $EDITOR right?") }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw VerbFailure("the edited file is gone, and nothing was published")
        }
        return [UInt8](data)
    }
}
