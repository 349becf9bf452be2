internal import APNs
internal import Dashboard
internal import Foundation
internal import Push
internal import Store
internal import Worker

extension DashboardParts {
    /// What a dashboard is made of.
    /// - Parameters:
    ///   - port: goes before the configured one.
    ///   - current: the configuration as it was read last.
    init(_ loaded: LoadedConfiguration, port: UInt16?, current: @escaping @Sendable () -> LoadedConfiguration) throws {
        var settings = loaded.dashboard
        if let port { settings.port = port }
        let process = ProcessInfo.processInfo
        let name = "pushfleet dashboard \(process.hostName):\(process.processIdentifier)"
        self.init(
            settings,
            broker: try loaded.settings.brokerSettings(name: name),
            redis: try RedisAddress(loaded.settings.redis.url),
            redisAuthorities: loaded.settings.redis.caFile,
            version: Version.current,
            reasons: ReasonReport.all.map(ExplainedReason.init)
        ) { stored in
            var fleet = FleetConfiguration(current())
            if let stored { fleet.add(stored) }
            return ConfiguredFleet(fleet)
        }
    }
}

extension ExplainedReason {
    init(_ report: ReasonReport) {
        self.init(
            reason: report.reason,
            source: report.source == "apns" ? .apns : .deadLetter,
            isBroadcast: report.isBroadcast,
            status: report.status,
            meaning: report.meaning,
            nextStep: report.nextStep,
            handling: report.handling
        )
    }
}

extension ConfiguredFleet {
    init(_ fleet: FleetConfiguration) {
        let reports = Dictionary(
            AppReport.all(fleet).filter { $0.state == "ok" }.map { ($0.app, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let apps = fleet.settings.apps.map { app in
            let report = reports[app.id]
            let values = (report?.values ?? []).compactMap { value in value.value.map { (value.key, $0) } }
            var shown = App(
                id: app.id,
                origin: report?.source == "redis" ? .redis : .file,
                credential: app.credential,
                settings: Dictionary(values, uniquingKeysWith: { first, _ in first })
            )
            (shown.fit, shown.lint) = (app.fit, app.lint)
            return shown
        }
        self.init(
            apps: apps,
            credentials: fleet.settings.credentials.map { Credential($0, fleet.loaded.credentials) },
            delays: fleet.settings.delays,
            hasTrail: fleet.settings.trail.isOn
        )
    }
}

extension ConfiguredFleet.Credential {
    fileprivate init(_ settings: CredentialSettings, _ loaded: [LoadedCredential]) {
        let isKey = if case .token = settings.kind { true } else { false }
        self.init(
            name: settings.name,
            kind: isKey ? .key : .certificate,
            environment: settings.environment.rawValue,
            pool: settings.pool,
            maxConnections: settings.maxConnections
        )
        switch settings.kind {
        case .token(let key): (self.teamID, self.keyID) = (key.teamID, key.keyID)
        case .certificate(let certificate): self.subject = certificate.subject
        }
        if case .certificate(let certificate)? = loaded.first(where: { $0.settings.name == settings.name })?.kind {
            self.expiresAt = certificate.notAfter
        }
    }
}
