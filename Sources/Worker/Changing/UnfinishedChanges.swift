internal import Push

/// What of changes to apps and credentials is still to be done, because something else must be there, or be over, first.
struct UnfinishedChanges {
    /// Apps to be taken up, new or with other settings, once their delay queues and their credential are there.
    private(set) var apps: [AppSettings] = []
    /// Credentials to connect with once the budget and the name are free.
    var credentials: [LoadedCredential] = []
    /// Names of credentials that leave once no app uses them.
    var departing: Set<String> = []
    /// Lines that take nothing more and have something under way.
    var retired: [Line] = []
    /// Looks for delay queues that no other app has needed so far.
    private(set) var watches: [DelayLevel: QueueWatch] = [:]
    /// Apps whose wait was told.
    var told: Set<String> = []

    var isEmpty: Bool {
        self.apps.isEmpty && self.credentials.isEmpty && self.departing.isEmpty && self.retired.isEmpty
    }

    /// An app is to hold from when it can; what was to become of it before does not count any more.
    mutating func expect(_ app: AppSettings) {
        self.forget(app.id)
        self.apps.append(app)
    }

    mutating func forget(_ app: String) {
        self.apps.removeAll { $0.id == app }
        self.told.remove(app)
        guard self.apps.isEmpty else { return }
        for watch in self.watches.values { watch.end() }
        self.watches = [:]
    }

    /// Delay queues of the app that are not known to be there.
    /// - Parameters:
    ///   - ladder: what is known from apps that run.
    ///   - watch: begins to look for one.
    mutating func missing(for app: AppSettings, _ ladder: DelayLadder, watch: (DelayLevel) -> QueueWatch)
        -> [DelayLevel]
    {
        app.retry.distinctDelays().filter { level in
            guard !ladder.levels.contains(level) else { return false }
            let known = self.watches[level] ?? watch(level)
            self.watches[level] = known
            return !known.isThere
        }
    }

    /// Whether the app waits for a queue that the broker says is not there, and nobody was told.
    mutating func isToBeTold(_ app: String, _ missing: [DelayLevel]) -> Bool {
        missing.contains { self.watches[$0]?.problem != nil } && self.told.insert(app).inserted
    }
}
