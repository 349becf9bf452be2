internal import ArgumentParser
internal import Desk
internal import Foundation
internal import Store
internal import Worker

/// `pushfleet drain`: has workers leave, from anywhere.
struct DrainVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Have a worker finish what it has begun and exit with 0, as SIGTERM does.",
        discussion: """
            The order goes through Redis; the worker takes it at its next heartbeat (2 s):
            it takes nothing new, waits for answers (worker.drain_timeout), gives the rest
            back, logs how much that was, and exits. A process with several loops leaves
            whole. What keeps workers running (systemd, Kubernetes) may start a new one.

            WORKER is an id as in pushfleet workers, the beginning of one, or host:pid. An
            order that nobody takes is void after 10 minutes.

            Example:
              pushfleet drain 3f0c9d0e
              pushfleet drain web-7:4711
              pushfleet drain --all
            """
    )

    @Argument(help: "The worker: its id, the beginning of it, or host:pid.")
    var worker: String?
    @Flag(help: "All workers that there are.")
    var all = false
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    func validate() throws {
        guard (self.worker == nil) == self.all else {
            throw ValidationError("name one worker, or give --all; pushfleet workers shows who is there")
        }
    }

    func run() async throws {
        let settings = try self.config.require([.servers]).settings
        let redis = try await settings.openRedis(for: "drain")
        defer { redis.close() }
        let workers = try await settings.readFleet(from: redis).workers
        let chosen = try Self.choose(self.worker, among: workers)
        do throws(RedisFailure) {
            try await WorkerDesk(redis, as: "\(NSUserName())@\(ProcessInfo.processInfo.hostName)").drain(chosen)
        } catch {
            throw VerbFailure("cannot order to drain: \(error)")
        }
        let report = DrainReport(chosen)
        if self.json.isOn { return try Terminal.print(json: report) }
        Terminal.print(report.lines)
    }

    /// - Parameter text: nil for all.
    static func choose(_ text: String?, among workers: [WorkerBeat]) throws(VerbFailure) -> [WorkerBeat] {
        guard let text else { return workers }
        do throws(WorkerChoice.Fault) {
            return try WorkerChoice.find(text, among: workers)
        } catch {
            throw error.failure(text)
        }
    }
}
