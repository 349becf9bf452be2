/// Something wrong, or doubtful, about the configuration: where it stands, which key, what is wrong and what to do.
struct ConfigurationProblem: Error, Equatable, CustomStringConvertible {
    enum Severity: Equatable {
        case error
        /// Works, but is unlikely to be meant.
        case warning
    }

    var severity = Severity.error
    /// The file, or the environment variable.
    let place: String
    /// The key with its names filled in; nil if the whole file is meant.
    var key: String?
    /// One or two sentences without the closing full stop.
    let text: String
    /// Counts from 1.
    var line: Int?

    var description: String {
        let key = self.key.map { "\($0): " } ?? ""
        let line = self.line.map { " (line \($0))" } ?? ""
        let warning = self.severity == .warning ? "warning: " : ""
        return "\(self.place): \(key)\(warning)\(self.text)\(line)"
    }
}

/// The configuration cannot be used. Holds all errors and warnings, not just the first.
struct ConfigurationFailure: Error {
    let problems: [ConfigurationProblem]
}
