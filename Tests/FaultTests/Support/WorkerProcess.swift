import Foundation
import Synchronization

/// `pushfleet worker` as a process of its own: the binary that was built together with these tests.
final class WorkerProcess: Sendable {
    /// How a process ended.
    enum End: Equatable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    let pid: pid_t
    private let output: String
    private let errors: String
    private let ended = Mutex<End?>(nil)

    /// Starts one; its output goes to files in `directory`.
    init(configuration: String, directory: String, name: String) throws {
        self.output = "\(directory)/\(name).out"
        self.errors = "\(directory)/\(name).log"
        let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let command = ["\(bundle.path)/pushfleet", "worker", "--config", configuration]
        self.pid = try Self.spawn(command, output: self.output, errors: self.errors)
    }

    deinit {
        guard self.end == nil else { return }
        Foundation.kill(self.pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(self.pid, &status, 0) == -1 && errno == EINTR {}
    }

    private static func spawn(_ command: [String], output: String, errors: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        // A socket of the test that lived on in a worker would hide that the test closed it.
        for fd in Int32(3)..<1024 { posix_spawn_file_actions_addclose(&actions, fd) }
        // Swift's threads block most signals; a child that inherited that would be deaf to SIGTERM.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        // The file decides alone.
        let variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PUSHFLEET_") }
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in arguments + environment { free(string) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, command[0], &actions, &attributes, &arguments, &environment)
        guard code == 0 else {
            throw NeverHappened(description: "\(command[0]) did not start: \(String(cString: strerror(code)))")
        }
        return pid
    }

    // MARK: Ending

    func signal(_ number: Int32) { Foundation.kill(self.pid, number) }

    /// How it ended; nil while it runs.
    var end: End? {
        self.ended.withLock { ended in
            if let ended { return ended }
            var status: Int32 = 0
            guard waitpid(self.pid, &status, WNOHANG) == self.pid else { return nil }
            let signal = status & 0x7f
            ended = signal == 0 ? .exit(status >> 8 & 0xff) : .signal(signal)
            return ended
        }
    }

    @discardableResult
    func waitForEnd(within limit: Duration = .seconds(60)) async throws -> (end: End, after: Duration) {
        let time = try await eventually("the worker ends\n\(self.log)", within: limit) { self.end != nil }
        guard let end = self.end else { preconditionFailure("an end that was seen is gone") }
        return (end, time)
    }

    // MARK: What it says

    /// What it has logged.
    var log: String { (try? String(contentsOfFile: self.errors, encoding: .utf8)) ?? "" }

    /// The lines of the log with this text.
    func lines(_ text: String) -> [Substring] { self.log.split(separator: "\n").filter { $0.contains(text) } }

    @discardableResult
    func logs(_ text: String, count: Int = 1, within limit: Duration = .seconds(60)) async throws -> Duration {
        do {
            return try await eventually(text, within: limit) { self.lines(text).count >= count }
        } catch {
            throw NeverHappened(description: "\(error); the worker's log:\n\(self.log.suffix(4000))")
        }
    }

    func isReady() async throws {
        let output = self.output
        do {
            try await eventually("ready") {
                ((try? String(contentsOfFile: output, encoding: .utf8)) ?? "").contains("ready")
            }
        } catch {
            throw NeverHappened(description: "\(error); the worker's log:\n\(self.log.suffix(4000))")
        }
    }

    /// Deliveries that it lost with a channel and that the broker handed out again.
    var voidDeliveries: Int {
        self.lines("Deliveries are void").reduce(0) { sum, line in
            let number = line.firstRange(of: "count=").map { line[$0.upperBound...].prefix { $0.isNumber } }
            return sum + (number.flatMap { Int($0) } ?? 0)
        }
    }
}
