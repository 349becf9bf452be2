/// What a running worker has to do so that another configuration holds: apps and credentials come, change and go.
///
/// Everything else needs a restart and stays as it is; so does, of a credential that stays, all but what proves it.
package struct FleetChange: Sendable {
    /// One step; the name is the operator's.
    package enum Action: Equatable, Sendable {
        case addCredential(String)
        /// Another key or certificate under the same name.
        case swapCredential(String)
        case removeCredential(String)
        case addApp(String)
        case changeApp(String)
        case removeApp(String)

        /// For logs.
        package var text: String {
            switch self {
            case .addCredential(let name): "credential \(name) added"
            case .swapCredential(let name): "credential \(name) changed"
            case .removeCredential(let name): "credential \(name) removed"
            case .addApp(let id): "app \(id) added"
            case .changeApp(let id): "app \(id) changed"
            case .removeApp(let id): "app \(id) removed"
            }
        }
    }

    /// In the order in which they are to be begun: what goes makes room for what comes.
    package let actions: [Action]
    /// What holds when all is done.
    package let settings: FleetSettings

    /// - Parameters:
    ///   - old: what the worker runs with.
    ///   - new: what the configuration says now. Each app's credential is there.
    package init(from old: FleetSettings, to new: FleetSettings) {
        var settings = old
        settings.apps = new.apps
        let running = Dictionary(naming: old.credentials, \.name)
        settings.credentials = new.credentials.filter { $0.broadcastsOf == nil }.map { credential in
            guard var kept = running[credential.name], kept.broadcastsOf == nil else { return credential }
            kept.kind = credential.kind
            return kept
        }
        settings.deriveBroadcastCredentials()
        self.settings = settings
        self.actions =
            Self.apps(old.apps, settings.apps)
            .merging(Self.credentials(old.credentials, settings.credentials))
    }

    package var isEmpty: Bool { self.actions.isEmpty }

    private struct Steps {
        var removed: [Action] = []
        var changed: [Action] = []
        var added: [Action] = []

        /// Apps leave before credentials do, and come after them.
        func merging(_ credentials: Steps) -> [Action] {
            self.removed + credentials.added + credentials.changed + self.changed + self.added + credentials.removed
        }
    }

    private static func apps(_ old: [AppSettings], _ new: [AppSettings]) -> Steps {
        let (before, after) = (Dictionary(naming: old, \.id), Dictionary(naming: new, \.id))
        var steps = Steps()
        steps.removed = old.filter { after[$0.id] == nil }.map { .removeApp($0.id) }
        steps.added = new.filter { before[$0.id] == nil }.map { .addApp($0.id) }
        steps.changed = new.filter { app in before[app.id].map { $0 != app } ?? false }.map { .changeApp($0.id) }
        return steps
    }

    private static func credentials(_ old: [CredentialSettings], _ new: [CredentialSettings]) -> Steps {
        let (before, after) = (Dictionary(naming: old, \.name), Dictionary(naming: new, \.name))
        var steps = Steps()
        steps.removed = old.filter { after[$0.name] == nil }.map { .removeCredential($0.name) }
        steps.added = new.filter { before[$0.name] == nil }.map { .addCredential($0.name) }
        steps.changed = new.filter { credential in
            before[credential.name].map { $0.kind != credential.kind } ?? false
        }.map { .swapCredential($0.name) }
        return steps
    }
}

extension Dictionary {
    fileprivate init(naming values: [Value], _ name: (Value) -> Key) {
        self.init(values.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
    }
}
