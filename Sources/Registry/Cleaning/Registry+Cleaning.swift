internal import Store

/// What one step of cleaning did.
package struct Swept: Hashable, Sendable {
    /// Endpoints and buckets of deleted applications and subscriptions that went.
    package var count: Int
    /// Whether another step would find more at once.
    package var hasMore: Bool
}

/// What one step of a purge did.
package struct Purged: Hashable, Sendable {
    package var endpoints: [EndpointName]
    /// Whether another step would find more at once.
    package var hasMore: Bool
}

extension Registry {
    /// One step of freeing what deleted applications and topics occupied, and of ending subscriptions whose endpoint has
    /// been gone for a while. Any number of processes may take steps.
    /// - Parameters:
    ///   - age: how long subscriptions stay listed after their endpoint.
    ///   - limit: about how much one step may remove; 1000 take some milliseconds.
    package func sweep(
        olderThan age: Duration,
        limit: Int = 1000,
        _ completion: @escaping Completion<Swept>
    ) {
        var call = RegistryScript.call(CleaningScripts.sweep)
        call.add(milliseconds: age)
        call.add(limit)
        self.run(call, completion) { reply in
            guard let count = reply.integer(), let more = reply.integer() else { return nil }
            return Swept(count: Int(count), hasMore: more == 1)
        }
    }

    /// One step of deleting endpoints that have been disabled for a while; those disabled longest go first.
    package func purge(
        disabledFor age: Duration,
        limit: Int = 1000,
        _ completion: @escaping Completion<Purged>
    ) {
        var call = RegistryScript.call(CleaningScripts.purge)
        call.add(milliseconds: age)
        call.add(limit)
        call.add(self.settings.cascades)
        self.run(call, completion) { reply in
            guard let more = reply.integer() else { return nil }
            var purged = Purged(endpoints: [], hasMore: more == 1)
            while var item = reply.list() {
                guard let key = item.text(), let application = ApplicationName(key: key), let id = item.id() else {
                    return nil
                }
                purged.endpoints.append(EndpointName(application: application, id: id))
            }
            return purged
        }
    }
}
