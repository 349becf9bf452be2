internal import Logging
internal import Loop
internal import Registry
internal import Store
internal import Worker

/// Has running workers follow the configuration, the files of the credentials and the apps in Redis: when something
/// changes, and when the operator says so with SIGHUP.
///
/// A configuration or a credential that cannot be used is told, and the old one goes on.
actor ConfigurationReload {
    private struct Known {
        var settings: CredentialSettings
        var watch: CredentialWatch
    }

    private enum Cause: String {
        case fileChanged = "the file has changed"
        case hangup = "SIGHUP"
    }

    private let workers: [Worker]
    private let logger: Logger
    private let load: @Sendable () -> LoadedConfiguration
    private let file: String?
    private var watch: FileWatch
    /// What the workers run with, or are on their way to.
    private var settings: FleetSettings
    private let effective: [EffectiveValue]
    private var known: [String: Known] = [:]
    private let source: AppSource
    private var apps = FleetApps()
    /// Those of the file.
    private var ownApps: [AppSettings]
    private var credentials: [LoadedCredential]
    private var ownCredentials: [CredentialSettings]
    /// Those that apps in Redis bring along.
    private var appCredentials = AppCredentials()
    private var masterKeys: SealingKeys?

    /// - Parameter load: reads the configuration again, with all its files.
    init(
        of loaded: LoadedConfiguration,
        workers: [Worker],
        logger: Logger,
        load: @Sendable @escaping () -> LoadedConfiguration
    ) {
        self.workers = workers
        self.logger = logger
        self.load = load
        self.file = loaded.file
        self.watch = FileWatch(inUse: loaded.file.flatMap(FileWatch.content))
        self.settings = loaded.settings
        self.effective = loaded.effective
        self.source = AppSource(loaded.settings)
        self.ownApps = loaded.settings.apps
        self.credentials = loaded.credentials
        self.ownCredentials = loaded.settings.credentials
        self.masterKeys = loaded.masterKeys
        for credential in loaded.settings.credentials {
            guard let files = try? CredentialFiles.read(for: credential) else { continue }
            self.known[credential.name] = Known(settings: credential, watch: CredentialWatch(inUse: files))
        }
    }

    /// Looks at the files and at Redis every two seconds, and at all files on each of `hangups`, until the task is
    /// cancelled.
    func run(hangups: AsyncStream<Void>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in hangups { await self.hangUp() }
            }
            group.addTask {
                while (try? await Task.sleep(for: .seconds(2))) != nil { await self.look() }
            }
            group.addTask {
                repeat {
                    for news in await self.source.look() { await self.heard(news) }
                } while (try? await Task.sleep(for: .seconds(2))) != nil
                await self.source.close()
            }
        }
    }

    // MARK: Looking

    /// Looks whether files have changed.
    private func look() {
        if let file, self.watch.looked(FileWatch.content(of: file)) { self.reload(.fileChanged) }
        for name in self.known.keys.sorted() {
            guard var known = self.known[name] else { continue }
            let found = known.watch.looked(Self.read(known.settings))
            self.known[name] = known
            switch found {
            case .files(let files): self.use(known.settings, files)
            case .fault(let fault): self.refuse(name, because: "\(fault)")
            case nil: break
            }
        }
    }

    private func hangUp() {
        if let file { self.watch = FileWatch(inUse: FileWatch.content(of: file)) }
        self.reload(.hangup)
    }

    private static func read(_ settings: CredentialSettings) -> CredentialWatch.Reading {
        do throws(CredentialFault) {
            return .files(try CredentialFiles.read(for: settings))
        } catch {
            return .fault(error)
        }
    }

    // MARK: Credentials

    private func refuse(_ credential: String, because problem: String) {
        for worker in self.workers { worker.refuse(credential, because: problem) }
    }

    private func use(_ settings: CredentialSettings, _ files: CredentialFiles) {
        do throws(CredentialFault) {
            let credential = try LoadedCredential(settings, files: files, at: WallClock.now())
            for app in self.settings.apps where app.credential == settings.configuredName {
                if let refusal = credential.refusal(for: app) {
                    return self.refuse(settings.name, because: "apps.\(app.id).credential \(refusal)")
                }
            }
            self.known[settings.name]?.settings = credential.settings
            self.known[settings.name]?.watch.used(files)
            self.credentials = self.credentials.map { $0.settings.name == settings.name ? credential : $0 }
            for worker in self.workers { worker.use(credential) }
        } catch {
            self.refuse(settings.name, because: "\(error)")
        }
    }

    // MARK: The configuration

    /// Reads the configuration again. What is changed beside apps and credentials waits for a restart.
    private func reload(_ cause: Cause) {
        let loaded = self.load()
        guard loaded.errors.isEmpty else { return self.tell(loaded.errors, cause) }
        var next = loaded.settings
        self.ownApps = next.apps
        self.credentials = loaded.credentials
        self.ownCredentials = next.credentials
        self.masterKeys = loaded.masterKeys
        self.merge(into: &next, isAnew: true)
        let change = FleetChange(from: self.settings, to: next)
        self.settings = change.settings
        let swapped = self.swapCredentials()
        self.apply(change, loaded.credentials + self.appCredentials.loaded)
        self.logger.notice(
            "The configuration was read again",
            metadata: [
                "cause": "\(cause.rawValue)", "credentials.changed": "\(swapped)",
                "changes": "\(change.actions.map(\.text).joined(separator: ", "))",
            ]
        )
        var keys = RestartKeys.changed(from: self.effective, to: loaded.effective)
        // Passwords are not among the values that are shown.
        if self.settings.amqp.url != loaded.settings.amqp.url { keys.append("amqp.url") }
        if self.settings.redis.url != loaded.settings.redis.url { keys.append("redis.url") }
        guard !keys.isEmpty else { return }
        self.logger.warning(
            "These changes need a restart and are ignored until then",
            metadata: ["keys": "\(Set(keys).sorted().joined(separator: ", "))"]
        )
    }

    /// Those with another key or certificate under the same name, or with another content of their files.
    private func swapCredentials() -> Int {
        var changed = 0
        for settings in self.settings.credentials {
            guard let known = self.known[settings.name] else { continue }
            let reading = Self.read(settings)
            guard case .files(let files) = reading else { continue }
            guard !known.watch.uses(files) || known.settings.kind != settings.kind else { continue }
            changed += 1
            self.use(settings, files)
        }
        return changed
    }

    private func apply(_ change: FleetChange, _ credentials: [LoadedCredential]) {
        guard !change.isEmpty else { return }
        var added: [LoadedCredential] = []
        for action in change.actions {
            switch action {
            case .addCredential(let name):
                guard let credential = credentials.first(where: { $0.settings.name == name }) else { continue }
                added.append(credential)
                guard case .files(let files) = Self.read(credential.settings) else { continue }
                self.known[name] = Known(settings: credential.settings, watch: CredentialWatch(inUse: files))
            case .removeCredential(let name): self.known[name] = nil
            case .swapCredential, .addApp, .changeApp, .removeApp: break
            }
        }
        for worker in self.workers { worker.apply(change, credentials: added) }
    }

    // MARK: Redis

    private func heard(_ news: AppSource.News) {
        switch news {
        case .apps(let stored):
            self.apps.take(stored)
            var next = self.settings
            self.merge(into: &next, isAnew: false)
            let change = FleetChange(from: self.settings, to: next)
            guard !change.isEmpty else { return }
            self.settings = change.settings
            self.apply(change, self.appCredentials.loaded)
            let changes = change.actions.map(\.text).joined(separator: ", ")
            self.logger.notice("The apps in Redis have changed", metadata: ["changes": "\(changes)"])
        case .evicts(let memory):
            self.logger.warning(
                "Redis throws keys away when its memory is full; set maxmemory-policy to noeviction",
                metadata: ["maxmemory-policy": "\(memory.policy)", "maxmemory": "\(memory.limit)"]
            )
        case .refused(let problem):
            self.logger.error(
                "Redis refuses to tell which apps it has; see deploy/redis/users.acl.example",
                metadata: ["detail": "\(problem)"]
            )
        }
    }

    /// What the file and Redis name together; what is wrong in Redis is told.
    private func merge(into settings: inout FleetSettings, isAnew: Bool) {
        let own = self.ownCredentials
        let isOther = self.appCredentials.take(self.apps.stored, keys: self.masterKeys, file: own, at: WallClock.now())
        for credential in self.appCredentials.swapped {
            for worker in self.workers { worker.use(credential) }
        }
        settings.credentials = own + self.appCredentials.loaded.map(\.settings)
        let check = AppCheck(credentials: own, loaded: self.credentials, own: self.appCredentials)
        let file = self.file ?? "the file"
        let outcome = self.apps.merge(with: self.ownApps, of: file, check, isAnew: isAnew || isOther)
        for news in outcome.news { self.tell(news) }
        settings.apps = outcome.apps
    }

    private func tell(_ news: FleetApps.News) {
        let detail = "\(news.problem)"
        guard news.problem.severity == .error else {
            let metadata: Logger.Metadata = ["push.app": "\(news.app)", "detail": "\(detail)"]
            return self.logger.warning("An app in Redis may not be meant so", metadata: metadata)
        }
        self.logger.error(
            "An app in Redis cannot be used; the others go on",
            metadata: [
                "push.app": "\(news.app)", "detail": "\(detail)",
                "until then": news.goesOn ? "it goes on as before" : "its messages wait",
            ]
        )
    }

    /// The credentials at fault are counted; anything else wrong with the file is told in one line.
    private func tell(_ errors: [ConfigurationProblem], _ cause: Cause) {
        self.logger.error(
            "The configuration was read again and has errors; nothing is changed",
            metadata: [
                "cause": "\(cause.rawValue)", "count": "\(errors.count)", "detail": "\(errors[0])",
            ]
        )
        for name in self.known.keys.sorted() {
            guard let error = errors.first(where: { $0.key?.hasPrefix("credentials.\(name).") ?? false }) else {
                continue
            }
            self.refuse(name, because: "\(error)")
        }
    }
}
