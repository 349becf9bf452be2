internal import ArgumentParser
internal import Desk
internal import Foundation

/// `pushfleet dead import`.
struct DeadImportVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put exported dead letters back into the dead-letter queue.",
        discussion: """
            Every line is checked before the first letter is published: if one is wrong,
            nothing is. Letters that are in the queue already are left out, so importing
            twice adds nothing. Then replay them.

            Example:
              pushfleet dead import dead.jsonl
              pushfleet dead import - < dead.jsonl
            """
    )

    @Argument(help: ArgumentHelp("A file of pushfleet dead export; - is standard input.", valueName: "file"))
    var file: String
    @Flag(help: "Check the file and publish nothing.")
    var dryRun = false
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    struct Report: Encodable, Equatable {
        let letters: Int
        let added: Int
        let present: Int
        let failed: Int
    }

    /// Errors that are told one by one.
    private static let mostErrors = 20

    func run() async throws {
        let letters = try self.letters()
        if self.dryRun {
            if self.json.isOn {
                return try Terminal.print(ascii: Report(letters: letters.count, added: 0, present: 0, failed: 0))
            }
            return Terminal.print("\(Count.letters(letters.count)) can be imported")
        }
        let access = try await DeadAccess.open(self.config, asksForApps: false)
        let result = try await DeadAccess.ask { () throws(DeadLetterFailure) in try await access.desk.add(letters) }
        if self.json.isOn {
            try Terminal.print(
                ascii: Report(
                    letters: letters.count,
                    added: result.added,
                    present: result.present,
                    failed: result.failed
                )
            )
        } else {
            let present = result.present > 0 ? "; \(result.present) were there already" : ""
            Terminal.print("imported \(Count.letters(result.added))\(present)")
        }
        guard result.failed > 0 else { return }
        throw VerbFailure(
            "\(Count.letters(result.failed)) could not be imported: \(result.trouble ?? "RabbitMQ did not say why"); "
                + "import the file again for the rest"
        )
    }

    private func letters() throws -> [DeadLetter] {
        let descriptor = self.file == "-" ? STDIN_FILENO : open(self.file, O_RDONLY)
        guard descriptor >= 0 else {
            throw VerbFailure("cannot read \(self.file): \(String(cString: strerror(errno)))")
        }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var reader = LineReader(descriptor: descriptor)
        var letters: [DeadLetter] = []
        var (number, errors) = (0, 0)
        while let line = reader.next() {
            number += 1
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
            do throws(DeadLetterFile.Fault) {
                letters.append(try DeadLetterFile.letter(line))
            } catch {
                errors += 1
                let field = error.field.map { "\($0) " } ?? ""
                if errors <= Self.mostErrors { Terminal.say("line \(number): \(field)\(error.detail)") }
            }
        }
        guard errors == 0 else {
            throw VerbFailure("nothing was imported: \(errors) of \(number) lines are wrong")
        }
        return letters
    }
}
