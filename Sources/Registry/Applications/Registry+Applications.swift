internal import Push
internal import Store

extension Registry {
    /// Makes a platform application, or sets attributes of the one with that name.
    ///
    /// - Parameters:
    ///   - attributes: any but credentials.
    ///   - fleet: put under the apps of the fleet in the same step; workers take it up within two seconds.
    package func createApplication(
        _ name: ApplicationName,
        attributes: [String: String],
        fleet: FleetApp?,
        _ completion: @escaping Completion<ApplicationCreation>
    ) {
        self.run(Self.put("create", name, attributes, fleet), completion) { reply in
            switch reply.text() {
            case "created": .created
            case "existing": .existing
            default: nil
            }
        }
    }

    /// Sets attributes, and the app of the fleet if one is given; what is not given stays.
    package func setApplication(
        _ name: ApplicationName,
        attributes: [String: String],
        fleet: FleetApp? = nil,
        _ completion: @escaping Completion<Change>
    ) {
        self.run(Self.put("set", name, attributes, fleet), completion) { $0.change() }
    }

    /// Nil if there is none.
    package func application(_ name: ApplicationName, _ completion: @escaping Completion<PlatformApplication?>) {
        var call = RegistryScript.call(ApplicationScripts.get)
        call.add(name.description)
        self.run(call, completion) { reply in reply.isAtEnd ? .some(nil) : reply.application() }
    }

    /// In the order of platform and name.
    package func applications(
        after: ApplicationName? = nil,
        limit: Int = 100,
        _ completion: @escaping Completion<Page<PlatformApplication, ApplicationName>>
    ) {
        var call = RegistryScript.call(ApplicationScripts.list)
        call.add(after?.description ?? "")
        call.add(limit)
        self.run(call, completion) { reply in
            guard let next = reply.text() else { return nil }
            var page = Page<PlatformApplication, ApplicationName>(items: [], next: ApplicationName(key: next))
            while var item = reply.list() {
                guard let application = item.application() else { return nil }
                page.items.append(application)
            }
            return page
        }
    }

    /// Deletes an application and all its endpoints; what those occupy is freed by ``sweep(olderThan:limit:_:)``. The app
    /// of the fleet goes in the same step.
    package func deleteApplication(_ name: ApplicationName, _ completion: @escaping Completion<Removal>) {
        var call = RegistryScript.call(ApplicationScripts.delete)
        call.add(name.description)
        self.run(call, completion) { $0.removal() }
    }

    private static func put(
        _ operation: StaticString,
        _ name: ApplicationName,
        _ attributes: [String: String],
        _ fleet: FleetApp?
    ) -> ScriptCall {
        var call = RegistryScript.call(ApplicationScripts.put)
        call.add(operation)
        call.add(name.description)
        call.add(attributes)
        call.add(optional: fleet?.id)
        call.add(fleet?.settings ?? "")
        call.add(optional: fleet?.credential?.text)
        return call
    }
}

extension ReplyCursor {
    fileprivate mutating func application() -> PlatformApplication? {
        guard let key = self.text(), let name = ApplicationName(key: key), let created = self.integer(),
            let endpoints = self.integer(), let fleet = self.text(), var attributes = self.list()
        else { return nil }
        return PlatformApplication(
            name: name,
            attributes: attributes.dictionary(),
            fleetApp: fleet.isEmpty ? nil : fleet,
            createdAt: UnixTime(milliseconds: created),
            endpoints: Int(endpoints)
        )
    }

    mutating func change() -> Change? {
        switch self.text() {
        case "changed": .changed
        case "unchanged": .unchanged
        case "missing": .missing
        default: nil
        }
    }

    mutating func removal() -> Removal? {
        switch self.text() {
        case "removed": .removed
        case "absent": .absent
        default: nil
        }
    }
}
