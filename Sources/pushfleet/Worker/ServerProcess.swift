internal import Foundation
internal import Logging

/// What every process that serves does before anything else.
enum ServerProcess {
    /// Logs to standard error from here on. To be called once.
    /// - Parameter logLevel: by swift-log's names; one that is unknown is "info".
    static func begin(_ label: String, logLevel: String) -> Logger {
        self.ignoreBrokenPipes()
        let level = Logger.Level(rawValue: logLevel) ?? .info
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        return Logger(label: label)
    }

    /// A peer that goes away while we write is an error on that socket, not the end of the process.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
