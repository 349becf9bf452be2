package import Foundation
import Synchronization

/// A process that a test has started; it ends with this object at the latest.
///
/// It gets none of the test's open files: a socket held by a child would hide that the test closed it. And it begins
/// with no signal blocked: Swift's own threads block most, and a child that inherited that would be deaf to SIGTERM.
package final class ChildProcess: Sendable {
    /// How a process ended.
    package enum End: Equatable, Sendable {
        case exit(Int32)
        case signal(Int32)

        /// The exit status, or minus the signal that ended it.
        package var status: Int32 {
            switch self {
            case .exit(let status): status
            case .signal(let number): -number
            }
        }

        fileprivate init(waitStatus: Int32) {
            let signal = waitStatus & 0x7f
            self = signal == 0 ? .exit(waitStatus >> 8 & 0xff) : .signal(signal)
        }
    }

    /// Where a process writes to.
    package enum Output: Sendable {
        /// The file is made for it, or emptied.
        case file(String)
        case descriptor(Int32)
    }

    package let pid: pid_t
    private let ended = Mutex<End?>(nil)

    /// Starts a command; the first word is a path, or a name that is looked up in PATH.
    ///
    /// - Parameters:
    ///   - environment: all of its variables.
    ///   - errors: nil for one stream with the output.
    /// - Throws: `CommandFailure` if it cannot start.
    package init(
        _ command: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        output: Output,
        errors: Output? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        Self.direct(1, to: output, &actions)
        Self.direct(2, to: errors ?? .descriptor(1), &actions)
        for fd in Int32(3)..<1024 { posix_spawn_file_actions_addclose(&actions, fd) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in arguments + variables { free(string) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else {
            throw CommandFailure(
                command: command.joined(separator: " "),
                status: code,
                output: String(cString: strerror(code))
            )
        }
        self.pid = pid
    }

    private static func direct(_ fd: Int32, to output: Output, _ actions: inout posix_spawn_file_actions_t) {
        switch output {
        case .file(let path):
            posix_spawn_file_actions_addopen(&actions, fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
        case .descriptor(let other):
            posix_spawn_file_actions_adddup2(&actions, other, fd)
        }
    }

    deinit {
        guard self.end == nil else { return }
        kill(self.pid, SIGKILL)
        self.wait()
    }

    package func signal(_ number: Int32) { kill(self.pid, number) }

    /// How it ended; nil while it runs.
    package var end: End? {
        self.ended.withLock { ended in
            if let ended { return ended }
            var status: Int32 = 0
            guard waitpid(self.pid, &status, WNOHANG) == self.pid else { return nil }
            ended = End(waitStatus: status)
            return ended
        }
    }

    /// Blocks until it has ended.
    @discardableResult
    package func wait() -> End {
        self.ended.withLock { ended in
            if let ended { return ended }
            var status: Int32 = 0
            while waitpid(self.pid, &status, 0) == -1 && errno == EINTR {}
            let end = End(waitStatus: status)
            ended = end
            return end
        }
    }
}
