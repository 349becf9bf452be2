import Logging
import Synchronization

/// Keeps what a worker logs.
final class WorkerLog: LogHandler, Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { self.kept.withLock { $0 } }

    /// How many lines have this text.
    func count(_ text: String) -> Int { self.lines.count { $0.contains(text) } }

    func log(event: LogEvent) {
        let values = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        self.kept.withLock { $0.append("\(event.level) \(event.message) \(values)") }
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    var logLevel: Logger.Level {
        get { .info }
        set {}
    }
}
