internal import Worker

/// One of the fleet's apps as `pushfleet app` shows it; its keys are a contract with scripts.
struct AppReport: Encodable, Equatable {
    struct Value: Encodable, Equatable {
        let key: String
        /// Missing if not set.
        let value: String?
        /// `file`, `redis`, `default`, `not set`, or the environment variable.
        let origin: String
    }

    let app: String
    /// `file` or `redis`.
    let source: String
    /// `ok`, `refused`, or `overruled` if the file names it too.
    let state: String
    /// All that it may set.
    let values: [Value]
    let problems: [String]

    /// All apps, those of the file first where both name one.
    static func all(_ fleet: FleetConfiguration) -> [AppReport] {
        let stored = Set(fleet.stored.map(\.id))
        let own = fleet.settings.apps.map(\.id).filter { id in
            !stored.contains(id) || fleet.loaded.effective.contains { $0.key == "apps.\(id).credential" }
        }
        let reports =
            own.map { AppReport($0, "file", "ok", fleet.loaded.effective, []) }
            + fleet.stored.map { app in
                let isOverruled = fleet.isOverruled(app)
                let state = isOverruled ? "overruled" : app.errors.isEmpty ? "ok" : "refused"
                return AppReport(app.id, "redis", state, app.effective, app.problems)
            }
        return reports.sorted { ($0.app, $0.source) < ($1.app, $1.source) }
    }

    private init(
        _ app: String,
        _ source: String,
        _ state: String,
        _ effective: [EffectiveValue],
        _ problems: [ConfigurationProblem]
    ) {
        self.app = app
        self.source = source
        self.state = state
        // An app's name may have dots in it: only whole keys tell them apart.
        let found = Dictionary(effective.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        self.values = SettingsTable.keys.filter { $0.path[0] == "apps" }.compactMap { key in
            let name = key.path.dropFirst(2).joined(separator: ".")
            return found["apps.\(app).\(name)"].map {
                Value(key: name, value: $0.value.isEmpty ? nil : $0.value, origin: "\($0.origin)")
            }
        }
        self.problems = problems.map(\.description)
    }

    func value(_ key: String) -> String? { self.values.first { $0.key == key }?.value }

    /// A table of apps, one line each.
    static func lines(_ reports: [AppReport]) -> [String] {
        // What the table of keys has, whichever version this is.
        let columns = ["credential", "rate", "weight"].filter { SettingsTable.key(at: ["apps", "*", $0]) != nil }
        var table = Table(["app", "source"] + columns.map { $0 == "credential" ? $0 : ">\($0)" } + ["state"])
        for report in reports {
            table.add([report.app, report.source] + columns.map { report.value($0) ?? "-" } + [report.state])
        }
        return table.lines()
    }

    /// Everything about the app.
    var lines: [String] {
        var table = Table("key", "value", "from")
        for value in self.values { table.add(value.key, value.value ?? "", value.origin) }
        return ["\(self.app): \(self.source), \(self.state)"] + table.lines(indent: 2) + self.problems
    }
}
