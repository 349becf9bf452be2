import Foundation
import Push
import Synchronization
import TestServers
import Worker

/// The built `pushfleet`, run as an operator runs it.
final class WorkerBinary: Sendable {
    let pid: pid_t
    private let log: String
    private let hasEnded = Mutex(false)

    struct Outcome: Sendable {
        /// The exit status, or minus the signal that ended it.
        let status: Int32
        let output: String
    }

    /// Beside the test bundle.
    static var path: String {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let beside = folder.appendingPathComponent("pushfleet").path
        return FileManager.default.isExecutableFile(atPath: beside)
            ? beside : "\(Repository.root)/.build/debug/pushfleet"
    }

    /// Starts it; both outputs go to one file.
    ///
    /// The child begins with no signal blocked: Swift's own threads block most, and a child would inherit that.
    init(_ arguments: [String], in folder: String) throws {
        self.log = "\(folder)/output-\(UUID().uuidString)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, self.log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
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
        var strings: [UnsafeMutablePointer<CChar>?] = ([Self.path] + arguments).map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, Self.path, &actions, &attributes, &strings, environ)
        guard code == 0 else {
            throw TimedOut(description: "\(Self.path) does not start: \(String(cString: strerror(code)))")
        }
        self.pid = pid
    }

    deinit {
        guard !self.hasEnded.withLock({ $0 }) else { return }
        kill(self.pid, SIGKILL)
        waitpid(self.pid, nil, 0)
    }

    var output: String { (try? String(contentsOfFile: self.log, encoding: .utf8)) ?? "" }

    /// Whether it said that it takes messages.
    var isReady: Bool { self.output.split(separator: "\n").contains("ready") }

    func signal(_ number: Int32) { kill(self.pid, number) }

    /// Waits for its end.
    func end(within limit: Duration = .seconds(60)) async throws -> Outcome {
        let status: Int32 = try await eventually("process \(self.pid) ends", within: limit) {
            var status: Int32 = 0
            guard waitpid(self.pid, &status, WNOHANG) == self.pid else { return nil }
            self.hasEnded.withLock { $0 = true }
            return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
        }
        return Outcome(status: status, output: self.output)
    }

    /// Runs it to its end.
    static func run(_ arguments: [String], in folder: String) async throws -> Outcome {
        try await WorkerBinary(arguments, in: folder).end()
    }
}

extension Fleet {
    /// The configuration of this fleet as a file for the binary; `change` may spoil it.
    func writeConfiguration(in folder: String, _ change: (String) -> String = { $0 }) throws -> String {
        let credential = self.settings.credentials[0]
        let retry = self.options.retry
        var text = """
            amqp:
              url: \(self.settings.amqp.url)
            redis:
              url: \(self.settings.redis.url)
            budget:
              lease: 3s
              heartbeat: 500ms
              quantum: 3s
            worker:
              drain_timeout: 5s
            credentials:
              main:
                environment: production
                team_id: \(Fleet.teamID)
                key_id: \(Fleet.keyID)
                key_file: \(TestCertificates.shared.signingKey)
                max_connections: \(credential.maxConnections)
                host: localhost
                port: \(credential.port ?? 0)
                ca_file: \(credential.caFile ?? "")
            apps:

            """
        for app in self.settings.apps {
            text += """
                  \(app.id):
                    credential: main
                    retry:
                      min_backoff: \(retry.minBackoff.milliseconds)ms
                      max_backoff: \(retry.maxBackoff.milliseconds)ms
                      max_doublings: \(retry.maxDoublings)
                      age_limit: \(retry.ageLimit.milliseconds)ms

                """
        }
        let path = "\(folder)/pushfleet-\(UUID().uuidString).yaml"
        try change(text).write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}
