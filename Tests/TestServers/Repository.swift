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

    /// Runs a script of `scripts/` and returns its standard output.
    ///
    /// - Throws: `CommandFailure` if it cannot start or its status is not 0.
    @discardableResult
    package static func script(_ name: String, _ arguments: [String]) throws -> String {
        try self.run(["\(self.root)/scripts/\(name)"] + arguments)
    }

    /// Runs a command to its end and returns its standard output; standard error goes into the thrown error.
    ///
    /// The child gets none of the test's open files: a socket held by a child would hide that the test closed it.
    @discardableResult
    package static func run(_ command: [String], environment: [String: String] = [:]) throws -> String {
        let output = try self.openNamelessFile()
        defer { close(output) }
        let errors = try self.openNamelessFile()
        defer { close(errors) }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        for fd in Int32(3)..<1024 { posix_spawn_file_actions_addclose(&actions, fd) }

        // Swift's own threads block most signals, and a child would inherit that: a server deaf to SIGTERM.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var environ: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in arguments + environ { free(string) } }

        let line = command.joined(separator: " ")
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, &environ)
        guard code == 0 else {
            throw CommandFailure(command: line, status: code, output: String(cString: strerror(code)))
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) == -1 && errno == EINTR {}
        let text = self.contents(output)
        guard status == 0 else {
            let reason = self.contents(errors)
            throw CommandFailure(
                command: line,
                status: status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f),
                output: text + reason
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
