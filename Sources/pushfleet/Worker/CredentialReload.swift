internal import Foundation
internal import Logging
internal import Loop
internal import Worker

/// Has a running worker use changed credentials: when their files change, and when the operator says so with SIGHUP,
/// which reads the configuration again as well.
///
/// A credential that cannot be used is told and counted, and the old one goes on.
actor CredentialReload {
    private struct Known {
        var settings: CredentialSettings
        var watch: CredentialWatch
    }

    private let workers: [Worker]
    private let logger: Logger
    private let load: @Sendable () -> LoadedConfiguration
    private let apps: [AppSettings]
    private var effective: [EffectiveValue]
    private var known: [String: Known] = [:]

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
        self.apps = loaded.settings.apps
        self.effective = loaded.effective
        for credential in loaded.settings.credentials {
            guard let files = try? CredentialFiles.read(for: credential) else { continue }
            self.known[credential.name] = Known(settings: credential, watch: CredentialWatch(inUse: files))
        }
    }

    /// Looks at the files every two seconds, and at everything on each of `hangups`, until the task is cancelled.
    func run(hangups: AsyncStream<Void>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in hangups { await self.reload() }
            }
            group.addTask {
                while (try? await Task.sleep(for: .seconds(2))) != nil { await self.look() }
            }
        }
    }

    /// Looks whether files have changed.
    func look() {
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

    private static func read(_ settings: CredentialSettings) -> CredentialWatch.Reading {
        do throws(CredentialFault) {
            return .files(try CredentialFiles.read(for: settings))
        } catch {
            return .fault(error)
        }
    }

    private func refuse(_ credential: String, because problem: String) {
        for worker in self.workers { worker.refuse(credential, because: problem) }
    }

    private func use(_ settings: CredentialSettings, _ files: CredentialFiles) {
        do throws(CredentialFault) {
            let credential = try LoadedCredential(settings, files: files, at: WallClock.now())
            for app in self.apps where app.credential == settings.configuredName {
                if let refusal = credential.refusal(for: app) {
                    return self.refuse(settings.name, because: "apps.\(app.id).credential \(refusal)")
                }
            }
            self.known[settings.name]?.settings = credential.settings
            self.known[settings.name]?.watch.used(files)
            for worker in self.workers { worker.use(credential) }
        } catch {
            self.refuse(settings.name, because: "\(error)")
        }
    }

    /// Reads the configuration again. What is changed beside credentials waits for a restart.
    func reload() {
        let loaded = self.load()
        guard loaded.errors.isEmpty else { return self.tell(loaded.errors) }
        var changed = 0
        for settings in loaded.settings.credentials {
            guard let known = self.known[settings.name] else { continue }
            let reading = Self.read(settings)
            guard case .files(let files) = reading else { continue }
            guard !known.watch.uses(files) || known.settings.kind != settings.kind else { continue }
            changed += 1
            self.use(settings, files)
        }
        let others = self.othersChanged(loaded.effective)
        self.logger.notice(
            "SIGHUP: the configuration was read again",
            metadata: ["credentials.changed": "\(changed)"]
        )
        guard !others.isEmpty else { return }
        self.logger.warning(
            "SIGHUP: these changes need a restart and are ignored until then",
            metadata: ["keys": "\(others.joined(separator: ", "))"]
        )
    }

    /// The credentials at fault are counted; anything else wrong with the file is told in one line.
    private func tell(_ errors: [ConfigurationProblem]) {
        self.logger.error(
            "SIGHUP: the configuration has errors; nothing is changed",
            metadata: ["count": "\(errors.count)", "detail": "\(errors[0])"]
        )
        for name in self.known.keys.sorted() {
            guard let error = errors.first(where: { $0.key?.hasPrefix("credentials.\(name).") ?? false }) else {
                continue
            }
            self.refuse(name, because: "\(error)")
        }
    }

    /// Keys with another value than the running worker's, but for those that say what a credential is.
    private func othersChanged(_ now: [EffectiveValue]) -> [String] {
        let before = Dictionary(self.effective.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        let after = Dictionary(now.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] && !Self.isSwappable($0) }.sorted()
    }

    private static func isSwappable(_ key: String) -> Bool {
        let swappable = [
            "team_id", "key_id", "key_file", "certificate_file", "private_key_file", "pkcs12_file", "passphrase",
            "passphrase_file",
        ]
        return key.hasPrefix("credentials.") && swappable.contains { key.hasSuffix(".\($0)") }
    }
}
