internal import ArgumentParser
internal import Foundation
internal import Push

/// `pushfleet lint`: checks payloads against Apple's keys and types, as workers do for apps with `lint: strict`.
struct LintVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Check payloads against Apple's keys, types and limits, before anyone publishes them.",
        discussion: """
            Each file holds one payload, the JSON object that the device gets. Every
            finding is one line with the path of the key at fault; the exit code is 1 if
            there is any. Needs no configuration and no server.

            Example:
              pushfleet lint order-shipped.json
              pushfleet lint --push-type liveactivity samples/*.json --json
              render order-shipped | pushfleet lint
            """
    )

    @Argument(help: ArgumentHelp("Files with one payload each; - or none is standard input.", valueName: "file"))
    var files: [String] = []
    @Option(
        help: "What the payloads are sent as: alert, background, voip, … (default: alert)",
        transform: PushType.argument
    )
    var pushType: PushType = .alert
    @Flag(help: "They go to a channel: more bytes, and nothing can be started.")
    var broadcast = false
    @OptionGroup var json: JSONFlag

    func run() throws {
        let files = self.files.isEmpty ? ["-"] : self.files
        var report = LintReport()
        for file in files {
            let name = file == "-" ? "standard input" : file
            do throws(ValueFault) {
                report.add(name, try Self.read(file), self.pushType, isBroadcast: self.broadcast)
            } catch {
                throw VerbFailure("\(name) \(error.phrase)")
            }
        }
        if self.json.isOn { try Terminal.print(json: report) } else { Terminal.print(report.lines()) }
        guard report.findings == 0 else { throw ExitCode(1) }
    }

    /// The bytes of a file, whatever they are: what is not UTF-8 is a finding.
    private static func read(_ file: String) throws(ValueFault) -> [UInt8] {
        guard file != "-" else { return Array((try? FileHandle.standardInput.readToEnd()) ?? Data()) }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory) else {
            throw ValueFault(phrase: "cannot be read: there is no such file")
        }
        guard !isDirectory.boolValue else { throw ValueFault(phrase: "cannot be read: it is a directory") }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw ValueFault(phrase: "cannot be read by this user; check its owner and mode")
        }
        return Array(data)
    }
}

extension PushType {
    /// An option's value; the error becomes part of the usage message.
    static func argument(_ text: String) throws -> PushType {
        if let type = PushType(rawValue: text) { return type }
        let names = Self.allCases.map(\.rawValue)
        let near = EditDistance.nearest(to: text.utf8, among: names).map { "did you mean \($0)?" }
        throw ValidationError(
            "'\(text)' is no push type; \(near ?? "it must be one of \(names.joined(separator: ", "))")"
        )
    }
}
