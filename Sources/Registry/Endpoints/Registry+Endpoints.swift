internal import Push
internal import Store

extension Registry {
    /// Makes an endpoint, or finds the one that is there. Source: Amazon SNS API reference, CreatePlatformEndpoint.
    package func createEndpoint(_ new: NewEndpoint, _ completion: @escaping Completion<EndpointCreation>) {
        var call = RegistryScript.call(EndpointScripts.create)
        call.add(new.application.description)
        call.add(new.token.packed)
        call.add(new.token.isHexadecimal)
        call.add(slots: new.application.slots(for: new.token))
        call.add(new.isEnabled)
        call.add(optional: new.userData)
        call.add(new.spare == nil ? "0" : "1")
        call.add(new.spare?.bytes ?? [])
        self.run(call, completion) { reply in
            let word = reply.text()
            switch (word, reply.id()) {
            case ("created", let id?): return .created(id)
            case ("existing", let id?): return .existing(id)
            case ("conflict", let id?): return .conflict(id)
            case ("slotsTaken", nil): return .slotsTaken
            case ("noApplication", nil): return .noApplication
            default: return nil
            }
        }
    }

    /// Nil if there is none.
    package func endpoint(_ name: EndpointName, _ completion: @escaping Completion<PlatformEndpoint?>) {
        self.run(Self.call(EndpointScripts.get, name), completion) { reply in
            reply.isAtEnd ? .some(nil) : reply.endpoint()
        }
    }

    /// An endpoint with all that a message to it needs; nil if there is none.
    package func target(_ name: EndpointName, _ completion: @escaping Completion<EndpointTarget?>) {
        self.run(Self.call(EndpointScripts.target, name), completion) { reply in
            if reply.isAtEnd { return .some(nil) }
            guard let isEnabled = reply.integer(), let fleetApp = reply.text(), var fields = reply.list(),
                let endpoint = fields.endpoint()
            else { return nil }
            return EndpointTarget(
                endpoint: endpoint,
                isApplicationEnabled: isEnabled == 1,
                fleetApp: fleetApp.isEmpty ? nil : fleetApp
            )
        }
    }

    /// The endpoint that has a token now: if there are several, the one that was given it last.
    package func endpoint(
        with token: EndpointToken,
        of application: ApplicationName,
        _ completion: @escaping Completion<PlatformEndpoint?>
    ) {
        var call = RegistryScript.call(EndpointScripts.byToken)
        call.add(application.description)
        call.add(token.packed)
        call.add(slots: application.slots(for: token))
        self.run(call, completion) { reply in reply.isAtEnd ? .some(nil) : reply.endpoint() }
    }

    /// Changes an endpoint. Another token begins another generation; a token, also the same, says that it is good now.
    package func setEndpoint(
        _ name: EndpointName,
        _ change: EndpointChange,
        _ completion: @escaping Completion<Change>
    ) {
        var call = Self.call(EndpointScripts.set, name)
        call.add(change.token == nil ? "0" : "1")
        call.add(change.token?.packed ?? [])
        call.add(change.token?.isHexadecimal ?? false)
        let slots = change.token.map { name.application.slots(for: $0) }
        call.add(slots: slots ?? [name.id, name.id, name.id])
        call.add(change.isEnabled)
        call.add(optional: change.userData)
        self.run(call, completion) { $0.change() }
    }

    /// Deletes an endpoint. What becomes of its subscriptions is up to the settings.
    package func deleteEndpoint(_ name: EndpointName, _ completion: @escaping Completion<Removal>) {
        var call = Self.call(EndpointScripts.delete, name)
        call.add(self.settings.cascades)
        self.run(call, completion) { $0.removal() }
    }

    /// A page of an application's endpoints in the order of their ids; nil if there is no such application. What is there
    /// all the time comes exactly once, whatever comes and goes meanwhile.
    package func endpoints(
        of application: ApplicationName,
        after: ResourceID? = nil,
        limit: Int = 100,
        _ completion: @escaping Completion<Page<PlatformEndpoint, ResourceID>?>
    ) {
        var call = RegistryScript.call(EndpointScripts.list)
        call.add(application.description)
        call.add(after?.bytes ?? [])
        call.add(limit)
        self.run(call, completion) { reply in
            guard reply.text() == "page" else { return .some(nil) }
            guard let next = reply.bytes(), let items = reply.endpoints() else { return nil }
            return Page(items: items, next: ResourceID(bytes: next))
        }
    }

    /// A page of the endpoints, of all applications, whose user data are these.
    /// - Parameter after: the page's key before; it means nothing to anybody else.
    package func endpoints(
        withUserData userData: String,
        after: [UInt8]? = nil,
        limit: Int = 100,
        _ completion: @escaping Completion<Page<PlatformEndpoint, [UInt8]>>
    ) {
        var call = RegistryScript.call(EndpointScripts.byUser)
        call.add(userData)
        call.add(after ?? [])
        call.add(limit)
        self.run(call, completion) { reply in
            guard let next = reply.bytes(), let items = reply.endpoints() else { return nil }
            return Page(items: items, next: next.isEmpty ? nil : next)
        }
    }

    /// Disables an endpoint because a provider refused its token, unless it was registered since.
    package func disable(_ verdict: TokenVerdict, _ completion: @escaping Completion<Disabling>) {
        var call = RegistryScript.call(EndpointScripts.disable)
        call.add(verdict.application.description)
        call.add(verdict.token.packed)
        call.add(slots: verdict.application.slots(for: verdict.token))
        call.add(verdict.endpoint?.bytes ?? [])
        call.add(verdict.generation.map(String.init) ?? "")
        call.add(verdict.invalidSince.map { String($0.milliseconds) } ?? "")
        self.run(call, completion) { reply in
            let word = reply.text()
            switch (word, reply.id()) {
            case ("disabled", let id?): return .disabled(id)
            case ("alreadyDisabled", let id?): return .alreadyDisabled(id)
            case ("otherToken", let id?): return .otherToken(id)
            case ("registeredLater", let id?): return .registeredLater(id)
            case ("noEndpoint", nil): return .noEndpoint
            default: return nil
            }
        }
    }

    private static func call(_ script: Script, _ name: EndpointName) -> ScriptCall {
        var call = RegistryScript.call(script)
        call.add(name.application.description)
        call.add(name.id.bytes)
        return call
    }
}

extension ScriptCall {
    fileprivate mutating func add(slots: [ResourceID]) {
        for slot in slots { self.add(slot.bytes) }
    }
}

extension ReplyCursor {
    /// The eight values that scripts describe an endpoint by.
    mutating func endpoint() -> PlatformEndpoint? {
        guard let key = self.text(), let application = ApplicationName(key: key) else { return nil }
        return self.endpoint(of: application)
    }

    /// The same without the application.
    mutating func endpoint(of application: ApplicationName) -> PlatformEndpoint? {
        guard let id = self.id(),
            let flags = self.integer(), let registered = self.integer(), let generation = self.integer(),
            let token = self.bytes(), let hasUserData = self.integer(), let userData = self.text()
        else { return nil }
        return PlatformEndpoint(
            name: EndpointName(application: application, id: id),
            token: EndpointToken(packed: token, isHexadecimal: flags & 2 != 0),
            isEnabled: flags & 1 != 0,
            userData: hasUserData == 1 ? userData : nil,
            registeredAt: UnixTime(milliseconds: registered),
            generation: Int(generation),
            mayShareToken: flags & 4 != 0
        )
    }

    /// Lists to the end.
    mutating func endpoints() -> [PlatformEndpoint]? {
        var all: [PlatformEndpoint] = []
        while var item = self.list() {
            guard let endpoint = item.endpoint() else { return nil }
            all.append(endpoint)
        }
        return all
    }
}
