internal import Gateway
internal import Logging

/// Has a running gateway follow the access keys and master keys of the configuration: when the file changes, and when the
/// operator says so with SIGHUP. A configuration that cannot be used is told, and the old one goes on.
actor GatewayReload {
    private let gateway: Gateway
    private let logger: Logger
    private let load: @Sendable () -> LoadedConfiguration
    private let file: String?
    private var watch: FileWatch

    /// - Parameter load: reads the configuration again, with all its files.
    init(
        of loaded: LoadedConfiguration,
        gateway: Gateway,
        logger: Logger,
        load: @Sendable @escaping () -> LoadedConfiguration
    ) {
        self.gateway = gateway
        self.logger = logger
        self.load = load
        self.file = loaded.file
        self.watch = FileWatch(inUse: loaded.file.flatMap(FileWatch.content))
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

    private func look() {
        if let file, self.watch.looked(FileWatch.content(of: file)) { self.reload(because: "the file has changed") }
    }

    private func reload(because cause: String) {
        let loaded = self.load()
        guard loaded.errors.isEmpty else {
            return self.logger.error(
                "The configuration was read again and has errors; nothing is changed",
                metadata: ["cause": "\(cause)", "count": "\(loaded.errors.count)", "detail": "\(loaded.errors[0])"]
            )
        }
        var settings = loaded.gateway
        settings.masterKeys = loaded.masterKeys
        self.gateway.use(settings)
        self.logger.notice(
            "The access keys were read again; other changes need a restart",
            metadata: ["cause": "\(cause)", "access_keys": "\(settings.keys.count)"]
        )
    }
}
