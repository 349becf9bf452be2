import Foundation
import Push
import TestServers
import Worker

/// The built `pushfleet`, run as an operator runs it.
final class WorkerBinary: Sendable {
    private let process: ChildProcess
    private let log: String

    struct Outcome: Sendable {
        /// The exit status, or minus the signal that ended it.
        let status: Int32
        let output: String
    }

    /// Starts it; both outputs go to one file. It gets none of the variables that a test is set up with, of which it
    /// would warn.
    init(_ arguments: [String], in folder: String) throws {
        self.log = "\(folder)/output-\(UUID().uuidString)"
        self.process = try ChildProcess(
            [Repository.binary] + arguments,
            environment: ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PUSHFLEET_") },
            output: .file(self.log)
        )
    }

    var output: String { (try? String(contentsOfFile: self.log, encoding: .utf8)) ?? "" }

    var pid: Int32 { self.process.pid }

    /// Whether it said that it takes messages.
    var isReady: Bool { self.output.split(separator: "\n").contains("ready") }

    func signal(_ number: Int32) { self.process.signal(number) }

    /// Waits for its end.
    func end(within limit: Duration = .seconds(60)) async throws -> Outcome {
        let process = self.process
        let end = try await eventually("process \(process.pid) ends", within: limit) { process.end }
        return Outcome(status: end.status, output: self.output)
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
