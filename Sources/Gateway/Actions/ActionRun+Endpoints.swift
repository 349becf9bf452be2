internal import Registry
internal import SNS

extension ActionRun {
    func createEndpoint(_ call: CreatePlatformEndpoint) async throws(SNSError) -> Answer {
        guard self.isOwn(call.application) else { throw .noApplication }
        let registration: EndpointRegistration
        do throws(SNSError) {
            registration = try call.registration()
        } catch {
            // That the application is missing goes before anything that is wrong with the endpoint.
            try await self.requireApplication(call.application)
            throw error
        }
        var new = NewEndpoint(
            call.application.key,
            token: EndpointToken(registration.token),
            userData: registration.customUserData,
            isEnabled: registration.isEnabled
        )
        if !self.settings.limitsSlots { new.spare = ResourceID(SNS.UUID.random().description) }
        let made = new
        switch try await self.ask({ registry, done in registry.createEndpoint(made, done) }) {
        case .existing(let id) where self.settings.upserts, .conflict(let id) where self.settings.upserts:
            return try await self.update(EndpointName(application: new.application, id: id), new)
        case .created(let id):
            let name = EndpointName(application: new.application, id: id)
            await self.service.tell(.endpointCreated, name)
            return .createPlatformEndpoint(try self.endpoint(name))
        case .existing(let id):
            return .createPlatformEndpoint(try self.endpoint(EndpointName(application: new.application, id: id)))
        case .conflict(let id):
            throw .endpointConflict(try self.endpoint(EndpointName(application: new.application, id: id)))
        case .slotsTaken: throw .slotsTaken
        case .noApplication: throw .noApplication
        }
    }

    /// Has an endpoint say what was said when its token was registered again. The app has the token, so it is good.
    private func update(_ name: EndpointName, _ new: NewEndpoint) async throws(SNSError) -> Answer {
        let change = EndpointChange(
            token: new.token,
            isEnabled: new.isEnabled ?? true,
            userData: new.userData
        )
        let outcome = try await self.ask { registry, done in registry.setEndpoint(name, change, done) }
        if outcome == .changed { await self.service.tell(.endpointUpdated, name) }
        return .createPlatformEndpoint(try self.endpoint(name))
    }

    func endpointAttributes(_ call: GetEndpointAttributes) async throws(SNSError) -> Answer {
        let name = try self.name(call.endpoint)
        guard let endpoint = try await self.ask({ registry, done in registry.endpoint(name, done) }) else {
            throw .noEndpoint
        }
        return .getEndpointAttributes(Self.attributes(endpoint))
    }

    func setEndpoint(_ call: SetEndpointAttributes) async throws(SNSError) -> Answer {
        let name = try self.name(call.endpoint)
        let changes: EndpointAttributes
        do throws(SNSError) {
            changes = try call.changes()
        } catch {
            guard try await self.ask({ registry, done in registry.endpoint(name, done) }) != nil else {
                throw .noEndpoint
            }
            throw error
        }
        let change = EndpointChange(
            token: changes.token.map { EndpointToken($0) },
            isEnabled: changes.isEnabled,
            userData: changes.customUserData
        )
        switch try await self.ask({ registry, done in registry.setEndpoint(name, change, done) }) {
        case .missing: throw .noEndpoint
        case .unchanged: break
        case .changed: await self.service.tell(.endpointUpdated, name)
        }
        return .done(.setEndpointAttributes)
    }

    func listEndpoints(_ call: ListEndpointsByPlatformApplication) async throws(SNSError) -> Answer {
        guard self.isOwn(call.application) else { throw .noApplication }
        let application = call.application.key
        var after: ResourceID?
        if let token = try PageToken.decode(call.nextToken) {
            guard let id = ResourceID(token) else { throw .invalidNextToken() }
            after = id
        }
        let start = after
        let page = try await self.ask { registry, done in
            registry.endpoints(of: application, after: start, limit: 100, done)
        }
        guard let page else { throw .noApplication }
        let entries = page.items.compactMap { endpoint in
            self.arn(endpoint.name).map { Answer.EndpointEntry(arn: $0, attributes: Self.attributes(endpoint)) }
        }
        return .listEndpointsByPlatformApplication(entries, next: page.next.map { PageToken.encode($0.description) })
    }

    func deleteEndpoint(_ call: DeleteEndpoint) async throws(SNSError) -> Answer {
        guard let name = call.endpoint.key, self.isOwn(call.endpoint.application) else { return .done(.deleteEndpoint) }
        let removal = try await self.ask { registry, done in registry.deleteEndpoint(name, done) }
        if removal == .removed { await self.service.tell(.endpointDeleted, name) }
        return .done(.deleteEndpoint)
    }

    private static func attributes(_ endpoint: PlatformEndpoint) -> [String: String] {
        var attributes = ["Token": endpoint.token.text, "Enabled": "\(endpoint.isEnabled)"]
        if let userData = endpoint.userData { attributes["CustomUserData"] = userData }
        return attributes
    }

    private func name(_ arn: EndpointARN) throws(SNSError) -> EndpointName {
        guard let name = arn.key, self.isOwn(arn.application) else { throw .noEndpoint }
        return name
    }

    private func endpoint(_ name: EndpointName) throws(SNSError) -> EndpointARN {
        guard let arn = self.arn(name) else { throw .internalFailure }
        return arn
    }
}
