internal import Store
internal import Worker

/// Which apps the fleet has: those of the file, and those in Redis that the file does not name. Does no I/O.
///
/// An app in Redis that is wrong is refused alone. If it ran with good values before, it goes on with those; so does one
/// that Redis has lost, since nobody removed it.
struct FleetApps {
    /// Something to tell about one app, once for each change of it.
    struct News: Equatable {
        let app: String
        let problem: ConfigurationProblem
        /// Whether it goes on with what it had.
        let goesOn: Bool
    }

    struct Outcome: Equatable {
        /// All, sorted by id.
        var apps: [AppSettings] = []
        /// What was not told before.
        var news: [News] = []
    }

    /// What Redis said last; nil as long as it has not answered.
    private(set) var stored: StoredApps?
    private var judged: [String: (text: String, app: JudgedApp)] = [:]
    /// The last good values of apps in Redis.
    private var good: [String: AppSettings] = [:]
    private var told: [String: [ConfigurationProblem]] = [:]

    /// Takes what Redis says now.
    mutating func take(_ stored: StoredApps) {
        self.stored = stored
    }

    /// Puts both sources together.
    /// - Parameters:
    ///   - apps: those of the file.
    ///   - file: its name.
    ///   - check: by the credentials there are now.
    ///   - isAnew: whether these may be others than last time.
    mutating func merge(with apps: [AppSettings], of file: String, _ check: AppCheck, isAnew: Bool) -> Outcome {
        var outcome = Outcome(apps: apps)
        guard let stored else { return outcome }
        if isAnew { self.judged = [:] }
        let own = Set(apps.map(\.id))
        self.judged = self.judged.filter { stored.values[$0.key] != nil }
        for app in stored.removed.union(own) { self.good[app] = nil }
        var problems: [String: [ConfigurationProblem]] = [:]
        for (id, text) in stored.values {
            guard !own.contains(id) else {
                problems[id] = [Self.overruled(id, by: file)]
                continue
            }
            let app = self.judge(id, text, check)
            if let settings = app.settings { self.good[id] = settings }
            problems[id] = app.problems
        }
        for id in self.good.keys where stored.values[id] == nil { problems[id] = [Self.lost(id)] }
        let running = self.good.values.filter { check.allows($0) }
        outcome.apps = (apps + running).sorted { $0.id < $1.id }
        for (id, found) in problems.sorted(by: { $0.key < $1.key }) where self.told[id] != found {
            let goesOn = running.contains { $0.id == id }
            outcome.news += found.map { News(app: id, problem: $0, goesOn: goesOn) }
        }
        self.told = problems
        return outcome
    }

    private mutating func judge(_ id: String, _ text: String, _ check: AppCheck) -> JudgedApp {
        if let known = self.judged[id], known.text == text { return known.app }
        let app = check.judge(stored: id, text)
        self.judged[id] = (text, app)
        return app
    }

    static func overruled(_ id: String, by file: String) -> ConfigurationProblem {
        ConfigurationProblem(
            severity: .warning,
            place: AppCheck.redis,
            key: "apps.\(id)",
            text: "stands in \(file) too, which goes before Redis; remove it there, or here with pushfleet app remove"
        )
    }

    private static func lost(_ id: String) -> ConfigurationProblem {
        ConfigurationProblem(
            severity: .warning,
            place: AppCheck.redis,
            key: "apps.\(id)",
            text:
                "is gone, though nobody removed it: Redis has lost data; put it there again with pushfleet app put, or "
                + "end it with pushfleet app remove"
        )
    }
}
