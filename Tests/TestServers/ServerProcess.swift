import Foundation
import Synchronization

/// What RabbitMQ and Redis have in common: a script of `scripts/` that runs the server in a directory.
///
/// The server ends with this process: at exit by a handler, after a crash by the script's own watcher.
package final class ServerProcess: Sendable {
    let script: String
    let directory: String
    private let options: [String]
    private let values = Mutex<[String: Int]>([:])

    init(script: String, kind: String, options: [String]) throws {
        self.script = script
        self.directory = try Repository.makeTemporaryDirectory(kind)
        self.options = options
        do {
            try self.start()
        } catch {
            Repository.remove(self.directory)
            throw error
        }
    }

    func start() throws {
        EndOfProcess.register(self.directory, script: self.script)
        let safety = ["--die-with", "\(getpid())", "--temporary"]
        let output = try Repository.script(self.script, ["start", self.directory] + self.options + safety)
        var values: [String: Int] = [:]
        for line in output.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2, let number = Int(parts[1]) { values[String(parts[0])] = number }
        }
        let found = values
        self.values.withLock { $0 = found }
    }

    /// Ends the server in good order and keeps its data.
    func shutDown() throws {
        try Repository.script(self.script, ["stop", self.directory])
        self.values.withLock { $0["pid"] = nil }
    }

    /// SIGKILL; the data stay as they are.
    func kill() throws {
        try Repository.script(self.script, ["kill", self.directory])
        self.values.withLock { $0["pid"] = nil }
    }

    /// Ends the server and removes its directory.
    func stop() {
        EndOfProcess.end(self.directory, script: self.script)
        self.values.withLock { $0["pid"] = nil }
    }

    func signal(_ number: Int32) {
        guard let pid = self.value("pid") else { preconditionFailure("\(self.script) does not run") }
        Foundation.kill(pid_t(pid), number)
    }

    /// Stops the server where it stands. On a busy machine a thread may run on for a while after the signal.
    func pause() {
        self.signal(SIGSTOP)
        let end = ContinuousClock.now + .seconds(10)
        while !self.isStopped, ContinuousClock.now < end { usleep(5000) }
    }

    /// Whether each of its threads is stopped (proc(5): the state follows the name, which stands in parentheses).
    private var isStopped: Bool {
        let tasks = "/proc/\(self.value("pid") ?? 0)/task"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return names.allSatisfy { name in
            guard let text = try? String(contentsOfFile: "\(tasks)/\(name)/stat", encoding: .utf8) else { return true }
            return text[text.index(after: text.lastIndex(of: ")") ?? text.startIndex)...].hasPrefix(" T")
        }
    }

    func value(_ name: String) -> Int? {
        self.values.withLock { $0[name] }
    }

    var isRunning: Bool {
        self.value("pid") != nil
    }
}

/// Ends at exit what tests have left running.
private enum EndOfProcess {
    private static let running = Mutex<[String: String]>([:])

    private static let installed: Void = {
        atexit { EndOfProcess.endAll() }
        return ()
    }()

    static func register(_ directory: String, script: String) {
        self.installed
        self.running.withLock { $0[directory] = script }
    }

    static func end(_ directory: String, script: String) {
        self.running.withLock { $0[directory] = nil }
        _ = try? Repository.script(script, ["kill", directory])
        Repository.remove(directory)
    }

    private static func endAll() {
        for (directory, script) in self.running.withLock({ $0 }) {
            self.end(directory, script: script)
        }
    }
}
