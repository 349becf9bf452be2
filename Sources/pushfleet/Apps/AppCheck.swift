internal import Foundation
internal import Worker

/// An app that does not stand in the file, as judged.
struct JudgedApp: Equatable {
    let id: String
    /// Nil if it was refused.
    let settings: AppSettings?
    let problems: [ConfigurationProblem]
    /// All its keys, whether they are right or not.
    let effective: [EffectiveValue]

    var errors: [ConfigurationProblem] { self.problems.filter { $0.severity == .error } }
}

/// Judges apps from outside of the file by the very rules that hold in it. The environment does not reach them.
struct AppCheck {
    /// The names of the credentials that there are.
    let credentials: [String]
    /// What is known of them: whether a certificate is for the app.
    let loaded: [LoadedCredential]
    /// Those that apps in Redis bring along.
    let own: AppCredentials

    init(
        credentials: [CredentialSettings],
        loaded: [LoadedCredential],
        own: AppCredentials = AppCredentials()
    ) {
        let names = credentials.filter { $0.broadcastsOf == nil }.map(\.name)
        self.credentials = names + own.loaded.map(\.settings.name).filter { !names.contains($0) }
        self.loaded = loaded + own.loaded
        self.own = own
    }

    /// How problems name the place.
    static let redis = "redis"

    /// An app as it stands in Redis.
    func judge(stored id: String, _ text: String) -> JudgedApp {
        // YAML takes much more than JSON, and other readers of Redis do not.
        guard (try? JSONSerialization.jsonObject(with: Data(text.utf8))) is [String: Any] else {
            let problem = ConfigurationProblem(
                place: Self.redis,
                key: "apps.\(id)",
                text: "is not a JSON object; put it there with pushfleet app put"
            )
            return JudgedApp(id: id, settings: nil, problems: [problem], effective: [])
        }
        return self.judge(ConfigurationFile(app: id, text: text, name: Self.redis, origin: .redis), id)
    }

    /// - Parameter file: holds that app and nothing else.
    func judge(_ file: ConfigurationFile, _ id: String) -> JudgedApp {
        // What cannot be read at all makes everything else look missing.
        guard !file.problems.contains(where: { $0.key == "apps.\(id)" || $0.key == nil }) else {
            return JudgedApp(id: id, settings: nil, problems: file.problems, effective: [])
        }
        let values = SettingValues(file: file, environment: [:], sections: ["apps"])
        var problems: [ConfigurationProblem] = []
        let settings = values.fleetSettings(
            credentials: [],
            apps: [id],
            amqpURL: "",
            redisURL: "",
            problems: &problems
        )
        var checks = SettingChecks(values: values, file: file)
        let named = settings.apps.first?.credential
        let isOwn = named.map { self.own.names[$0] != nil || self.own.faults[$0] != nil } ?? false
        checks.runAlone(id, settings, credentials: self.credentials + (isOwn ? [named ?? ""] : []))
        problems = file.problems + values.problems + problems + checks.problems
        var app = settings.apps.first
        if let named, isOwn, let fault = self.own.faults[named] {
            problems.append(values.problem(at: ["apps", id, "credential"], fault, .error))
        }
        if let named, let name = self.own.names[named] { app?.credential = name }
        if let app, let refusal = self.refusal(of: app) {
            problems.append(values.problem(at: ["apps", id, "credential"], refusal, .error))
        }
        return JudgedApp(
            id: id,
            settings: problems.contains { $0.severity == .error } ? nil : app,
            problems: problems,
            effective: values.effective
        )
    }

    /// Whether settings that were right once can still be used.
    func allows(_ app: AppSettings) -> Bool {
        self.credentials.contains(app.credential) && self.refusal(of: app) == nil
    }

    private func refusal(of app: AppSettings) -> String? {
        self.loaded.first { $0.settings.name == app.credential }?.refusal(for: app)
    }
}
