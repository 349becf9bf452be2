internal import Loop
internal import Push
internal import Registry
internal import SNS

extension ActionRun {
    func createApplication(_ call: CreatePlatformApplication) async throws(SNSError) -> Answer {
        let name = ApplicationName(platform: call.platform.rawValue, name: call.applicationName)
        guard let arn = self.arn(name) else { throw .internalFailure }
        try await self.checkEvents(call.attributes)
        let fleet = try call.attributes.credentials.map { (credentials) throws(SNSError) in
            try self.service.access.applications.fleetApp(arn, credentials)
        }
        guard await self.service.topology.declare(arn.appID) else { throw .unavailable }
        let attributes = self.stored(call.attributes)
        let outcome = try await self.ask { registry, done in
            registry.createApplication(name, attributes: attributes, fleet: fleet, done)
        }
        if case .existing = outcome, attributes["Enabled"] == "true" { await self.retry(name, app: fleet?.id) }
        return .createPlatformApplication(arn)
    }

    func applicationAttributes(_ call: GetPlatformApplicationAttributes) async throws(SNSError) -> Answer {
        let application = try await self.requireApplication(call.application)
        return .getPlatformApplicationAttributes(Self.shown(application))
    }

    func setApplication(_ call: SetPlatformApplicationAttributes) async throws(SNSError) -> Answer {
        let application = try await self.requireApplication(call.application)
        let given = try call.attributes()
        try await self.checkEvents(given)
        let fleet = try given.credentials.map { (credentials) throws(SNSError) in
            try self.service.access.applications.fleetApp(call.application, credentials)
        }
        let attributes = self.stored(given)
        let name = application.name
        let change = try await self.ask { registry, done in
            registry.setApplication(name, attributes: attributes, fleet: fleet, done)
        }
        guard change != .missing else { throw .noApplication }
        if !application.isEnabled, attributes["Enabled"] == "true" { await self.retry(name, app: application.fleetApp) }
        return .done(.setPlatformApplicationAttributes)
    }

    func listApplications(_ call: ListPlatformApplications) async throws(SNSError) -> Answer {
        var after: ApplicationName?
        if let key = try PageToken.decode(call.nextToken) {
            let parts = key.split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw .invalidNextToken() }
            after = ApplicationName(platform: parts[0], name: parts[1])
        }
        let start = after
        let page = try await self.ask { registry, done in registry.applications(after: start, limit: 100, done) }
        let entries = page.items.compactMap { application in
            self.arn(application.name).map {
                Answer.PlatformApplicationEntry(arn: $0, attributes: Self.shown(application))
            }
        }
        return .listPlatformApplications(entries, next: page.next.map { PageToken.encode($0.description) })
    }

    func deleteApplication(_ call: DeletePlatformApplication) async throws(SNSError) -> Answer {
        if self.isOwn(call.application) {
            let name = call.application.key
            _ = try await self.ask { registry, done in registry.deleteApplication(name, done) }
        }
        return .done(.deletePlatformApplication)
    }

    // MARK: Parts

    private func retry(_ name: ApplicationName, app: String?) async {
        await self.service.desk.ask { core, completion in
            core.applications.forget(name)
            if let app { core.credentials.retry(app: app) }
            completion(())
        }
    }

    @discardableResult
    func requireApplication(_ arn: ApplicationARN) async throws(SNSError) -> PlatformApplication {
        guard self.isOwn(arn) else { throw .noApplication }
        let name = arn.key
        guard let application = try await self.ask({ registry, done in registry.application(name, done) }) else {
            throw .noApplication
        }
        return application
    }

    /// Topics for events must be there.
    private func checkEvents(_ attributes: ApplicationAttributes) async throws(SNSError) {
        for event in ApplicationAttributes.eventNames {
            guard let text = attributes.plain[event], !text.isEmpty else { continue }
            guard let arn = try? TopicARN(text), self.isOwn(arn) else { throw .noEventTopic(event) }
            let topic = arn.name
            guard try await self.ask({ registry, done in registry.topic(topic, done) }) != nil else {
                throw .noEventTopic(event)
            }
        }
    }

    /// What stands in the registry; never a credential.
    private func stored(_ attributes: ApplicationAttributes) -> [String: String] {
        var stored = attributes.plain
        if let credentials = attributes.credentials {
            stored["AuthenticationMethod"] = credentials.method
            let expiry = self.service.access.applications.expiry(of: credentials)
            stored["AppleCertificateExpiryDate"] = expiry?.iso8601 ?? ""
        }
        // Good credentials bring an application back that was disabled for bad ones.
        guard let isEnabled = attributes.isEnabled ?? (attributes.credentials != nil ? true : nil) else {
            return stored
        }
        stored["Enabled"] = "\(isEnabled)"
        if isEnabled { stored[CredentialRefusal.enabledAt] = "\(WallClock.now().milliseconds)" }
        return stored
    }

    /// An empty value stands for an attribute that was taken away.
    private static func shown(_ application: PlatformApplication) -> [String: String] {
        application.attributes.filter { !$0.value.isEmpty && $0.key != CredentialRefusal.enabledAt }
    }
}
