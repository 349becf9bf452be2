internal import Dashboard
internal import Logging
internal import Synchronization

/// Has a running dashboard follow its users and the fleet's configuration: when the configuration's file or the file of
/// tokens changes, and when the operator says so with SIGHUP. What cannot be used is told, and the old one goes on.
actor DashboardReload {
    private let dashboard: Dashboard
    private let logger: Logger
    private let load: @Sendable () -> LoadedConfiguration
    private let current: LatestConfiguration
    private var watches: [(file: String, watch: FileWatch)]

    /// - Parameters:
    ///   - current: is given what was read.
    ///   - load: reads the configuration again, with all its files.
    init(
        of current: LatestConfiguration,
        dashboard: Dashboard,
        logger: Logger,
        load: @Sendable @escaping () -> LoadedConfiguration
    ) {
        self.dashboard = dashboard
        self.logger = logger
        self.load = load
        self.current = current
        self.watches = Self.watches(current.value)
    }

    private static func watches(_ loaded: LoadedConfiguration) -> [(file: String, watch: FileWatch)] {
        [loaded.file, loaded.tokensFile].compactMap { file in
            file.map { ($0, FileWatch(inUse: FileWatch.content(of: $0))) }
        }
    }

    /// Looks every two seconds, and on each of `hangups`, until the task is cancelled.
    func run(hangups: AsyncStream<Void>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in hangups { await self.reload(because: "SIGHUP") }
            }
            group.addTask {
                while (try? await Task.sleep(for: .seconds(2))) != nil { await self.look() }
            }
        }
    }

    private func look() async {
        var changed: String?
        for index in self.watches.indices {
            let file = self.watches[index].file
            if self.watches[index].watch.looked(FileWatch.content(of: file)) { changed = file }
        }
        if let changed { await self.reload(because: "\(changed) has changed") }
    }

    private func reload(because cause: String) async {
        let loaded = self.load()
        guard loaded.errors.isEmpty else {
            return self.logger.error(
                "The configuration was read again and has errors; nothing is changed",
                metadata: ["cause": "\(cause)", "count": "\(loaded.errors.count)", "detail": "\(loaded.errors[0])"]
            )
        }
        if loaded.tokensFile != self.current.value.tokensFile { self.watches = Self.watches(loaded) }
        self.current.value = loaded
        await self.dashboard.use(loaded.dashboard)
        self.logger.notice(
            "The users were read again",
            metadata: ["cause": "\(cause)", "users": "\(loaded.dashboard.tokens.users.count)"]
        )
    }
}

/// The configuration as it was read last.
final class LatestConfiguration: Sendable {
    private let loaded: Mutex<LoadedConfiguration>

    init(_ loaded: LoadedConfiguration) { self.loaded = Mutex(loaded) }

    var value: LoadedConfiguration {
        get { self.loaded.withLock { $0 } }
        set { self.loaded.withLock { $0 = newValue } }
    }
}
