internal import ArgumentParser
internal import Desk
internal import Foundation
internal import Synchronization

/// `pushfleet dead export`.
struct DeadExportVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write dead letters to standard output, one JSON object on each line.",
        discussion: """
            Everything that import and a replay need is in it, whole device tokens too:
            keep the file as you keep them. The letters stay in the queue.

            Example:
              pushfleet dead export > dead.jsonl
              pushfleet dead export --reason payload_lint | jq -r .detail | sort -u
            """
    )

    @OptionGroup var selection: DeadSelection
    @OptionGroup var config: ConfigurationOption

    func run() async throws {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw VerbFailure(
                "an export holds whole device tokens; send it to a file: pushfleet dead export > dead.jsonl"
            )
        }
        // A reader that ends early is an error to tell.
        signal(SIGPIPE, SIG_IGN)
        let access = try await DeadAccess.open(self.config, asksForApps: self.selection.options.app != nil)
        let filter = try self.selection.filter
        let sheet = Sheet()
        let look = try await DeadAccess.ask { () throws(DeadLetterFailure) in
            try await access.desk.read(filter) { sheet.add($0) }
        }
        let (ids, failure) = sheet.end()
        if let failure { throw VerbFailure("the export is not complete: \(failure)") }
        try self.selection.requireAll(ids, look)
        if ids.isEmpty { try self.selection.options.requireKnownApp(access.settings) }
        Terminal.say("exported \(Count.letters(sheet.count))")
        if let doubt = look.doubt { throw VerbFailure("the export may not be complete: \(doubt)") }
    }

    /// Lines on their way to standard output.
    private final class Sheet: Sendable {
        private struct State {
            var ids: Set<DeadLetterID> = []
            var count = 0
            var lines = ""
            var failure: String?
        }

        private let state = Mutex(State())

        var count: Int { self.state.withLock { $0.count } }

        func add(_ letter: DeadLetter) {
            let line = DeadLetterFile.line(letter)
            self.state.withLock { state in
                state.ids.insert(letter.id)
                state.count += 1
                state.lines += line + "\n"
                if state.lines.utf8.count > 1 << 18 { Self.write(&state) }
            }
        }

        func end() -> (ids: Set<DeadLetterID>, failure: String?) {
            self.state.withLock { state in
                Self.write(&state)
                return (state.ids, state.failure)
            }
        }

        private static func write(_ state: inout State) {
            guard state.failure == nil, !state.lines.isEmpty else { return }
            do {
                try FileHandle.standardOutput.write(contentsOf: Data(state.lines.utf8))
            } catch {
                state.failure = "standard output takes no more (\(error.localizedDescription))"
            }
            state.lines = ""
        }
    }
}
