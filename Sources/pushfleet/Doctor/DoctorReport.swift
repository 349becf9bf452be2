internal import Desk

/// What `pushfleet doctor` shows.
struct DoctorReport: Encodable {
    struct Value: Encodable {
        let key: String
        /// Missing if not set.
        let value: String?
        /// `file`, `default`, `not set`, or the environment variable.
        let origin: String
    }

    struct Check: Encodable {
        let check: String
        let state: String
        let text: String
        let fix: String?
    }

    let file: String?
    let values: [Value]
    private(set) var checks: [Check] = []
    private(set) var failed = 0
    private(set) var warned = 0

    init(_ loaded: LoadedConfiguration) {
        self.file = loaded.file
        self.values = loaded.effective.map {
            Value(key: $0.key, value: $0.value.isEmpty ? nil : $0.value, origin: $0.origin.description)
        }
    }

    mutating func add(_ findings: [Finding]) {
        for finding in findings {
            self.checks.append(
                Check(check: finding.subject, state: finding.state.rawValue, text: finding.text, fix: finding.fix)
            )
            if finding.state == .fail { self.failed += 1 }
            if finding.state == .warn { self.warned += 1 }
        }
    }

    func lines(palette: Palette) -> [String] {
        var table = Table("key", "value", "from")
        for value in self.values { table.add(value.key, value.value ?? "", value.origin) }
        var lines = self.values.isEmpty ? [] : table.lines() + [""]
        let width = self.checks.map(\.check.count).max() ?? 0
        for check in self.checks {
            let state =
                switch check.state {
                case Finding.State.ok.rawValue: palette.paint("ok  ", .green)
                case Finding.State.warn.rawValue: palette.paint("warn", .yellow)
                default: palette.paint("FAIL", .red)
                }
            let padding = String(repeating: " ", count: width - check.check.count)
            lines.append("\(state)  \(check.check)\(padding)  \(check.text)")
            if let fix = check.fix { lines += Terminal.wrapped("-> \(fix)", indent: 6 + width + 2) }
        }
        let passed = self.checks.count - self.failed - self.warned
        lines += ["", "\(passed) ok, \(self.warned) to look at, \(self.failed) failed"]
        return lines
    }
}
