import Foundation
import Synchronization

/// A command that did not do what a test needs; the text is what it printed.
package struct CommandFailure: Error, CustomStringConvertible {
    package var command: String
    package var status: Int32
    package var output: String

    package var description: String {
        "\(self.command) ended with status \(self.status):\n\(self.output)"
    }
}

/// The repository that this test run was built from, and commands run in it.
package enum Repository {
    /// The absolute path of the repository's root.
    package static let root: String = {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url.path
    }()

    /// The built `pushfleet`, which lies beside the test bundle.
    package static let binary: String = {
        let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appendingPathComponent("pushfleet").path
    }()

    /// Runs a script of `scripts/` and returns its standard output.
    ///
    /// - Throws: `CommandFailure` if it cannot start or its status is not 0.
    @discardableResult
    package static func script(_ name: String, _ arguments: [String]) throws -> String {
        try self.run(["\(self.root)/scripts/\(name)"] + arguments)
    }

    /// Runs a command to its end and returns its standard output; standard error goes into the thrown error.
    @discardableResult
    package static func run(_ command: [String], environment: [String: String] = [:]) throws -> String {
        let output = try self.openNamelessFile()
        defer { close(output) }
        let errors = try self.openNamelessFile()
        defer { close(errors) }

        let process = try ChildProcess(
            command,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            output: .descriptor(output),
            errors: .descriptor(errors)
        )
        let end = process.wait()
        let text = self.contents(output)
        guard end == .exit(0) else {
            throw CommandFailure(
                command: command.joined(separator: " "),
                status: end.status,
                output: text + self.contents(errors)
            )
        }
        return text
    }

    /// A temporary file that is gone when it is closed.
    private static func openNamelessFile() throws -> Int32 {
        var template = Array("\(self.temporary)/pushfleet-output-XXXXXX".utf8CString)
        let fd = mkstemp(&template)
        guard fd >= 0 else {
            throw CommandFailure(command: "mkstemp", status: errno, output: String(cString: strerror(errno)))
        }
        unlink(template)
        _ = fcntl(fd, F_SETFD, FD_CLOEXEC)
        return fd
    }

    private static func contents(_ fd: Int32) -> String {
        lseek(fd, 0, SEEK_SET)
        let handle = FileHandle(fileDescriptor: fd, closeOnDealloc: false)
        return String(decoding: (try? handle.readToEnd()) ?? Data(), as: UTF8.self)
    }

    private static let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"

    /// Makes an empty directory that only this user may enter.
    package static func makeTemporaryDirectory(_ kind: String) throws -> String {
        var template = Array("\(self.temporary)/pushfleet-\(kind)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                command: "mkdtemp in \(self.temporary)",
                status: errno,
                output: String(cString: strerror(errno))
            )
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a directory with everything in it; one that is gone already is fine.
    package static func remove(_ directory: String) {
        try? FileManager.default.removeItem(atPath: directory)
    }
}
