import Foundation
import TestServers

/// `pushfleet worker` as a process of its own: the binary that was built together with these tests.
final class WorkerProcess: Sendable {
    private let process: ChildProcess
    private let output: String
    private let errors: String

    /// Starts one; its output goes to files in `directory`.
    init(_ arguments: [String] = [], configuration: String, directory: String, name: String) throws {
        self.output = "\(directory)/\(name).out"
        self.errors = "\(directory)/\(name).log"
        self.process = try ChildProcess(
            [Repository.binary, "worker", "--config", configuration] + arguments,
            // The file decides alone.
            environment: ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PUSHFLEET_") },
            output: .file(self.output),
            errors: .file(self.errors)
        )
    }

    var pid: pid_t { self.process.pid }

    // MARK: Ending

    func signal(_ number: Int32) { self.process.signal(number) }

    /// How it ended; nil while it runs.
    var end: ChildProcess.End? { self.process.end }

    @discardableResult
    func waitForEnd(within limit: Duration = .seconds(60)) async throws -> (end: ChildProcess.End, after: Duration) {
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
