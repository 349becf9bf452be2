package import Push

/// The clock, the policy, and what the simulator knows of the provider.
extension Simulator {
    // MARK: The clock

    /// What its clock shows.
    package func now() async throws -> VirtualClock.Moment {
        try await self.desk.ask { $0.moment }
    }

    /// Moves its clock forward; what is due by then is done at once.
    /// - Parameter wall: whether its wall clock moves as well; if not, nobody's provider token grows old by it.
    package func advanceClock(by duration: Duration, wall: Bool = true) async throws {
        try await self.desk.ask { $0.changeClock { $0.advance(by: duration, wall: wall, at: $1) } }
    }

    /// Sets its wall clock, by which provider tokens are judged; delays and windows do not notice.
    package func setClock(to time: UnixTime) async throws {
        try await self.desk.ask { $0.changeClock { $0.set(time, at: $1) } }
    }

    /// Has so many seconds pass in each second; 0 stops the clock.
    /// - Parameter wall: whether they do on its wall clock as well.
    package func setClockScale(_ scale: Double, wall: Bool = true) async throws {
        try await self.desk.ask { $0.changeClock { $0.run(at: scale, wall: wall, from: $1) } }
    }

    // MARK: Policy

    /// Changes what connections get away with, those that are open as well.
    package func setPolicy(_ change: @escaping @Sendable (inout ConnectionPolicy) -> Void) async throws {
        try await self.desk.ask { server in
            change(&server.service.policy)
            server.policyHasChanged()
        }
    }

    /// Sets how many pushes one device token may get in a row; nil: any number.
    package func setTokenRate(_ rate: TokenRate?) async throws {
        try await self.desk.ask { $0.service.buckets.rate = rate }
    }

    /// Says whether new connections are taken; else the system refuses them.
    package func setListens(_ listens: Bool) async throws {
        try await self.desk.ask { $0.listens = listens }
    }

    // MARK: The provider

    /// Has it play the other environment from now on.
    package func setEnvironment(_ environment: APNsEnvironment) async throws {
        try await self.desk.ask { $0.service.check.providerTokens.settings.environment = environment }
    }

    /// Sets the provider's apps; nil: any. Connections that have pushed keep those of their first push.
    package func setBundleIDs(_ ids: Set<String>?) async throws {
        try await self.desk.ask { $0.service.check.topics = TopicRules(bundleIDs: ids) }
    }

    // MARK: Evidence

    /// Compares a producer's list of `apns-id`s with what arrived.
    /// - Throws: ``SimulatorError``, when one of them is no UUID.
    package func compare(ids: [String]) async throws -> LedgerComparison {
        let known = ids.compactMap { MessageID(Array($0.utf8)) }
        guard known.count == ids.count else { throw SimulatorError("an apns-id is a UUID") }
        return try await self.desk.ask { $0.service.ledger.compare(ids: known) }
    }

    /// Compares a producer's list of device tokens with what arrived.
    /// - Throws: ``SimulatorError``, when one of them is no token.
    package func compare(tokens: [String]) async throws -> LedgerComparison {
        let known = tokens.compactMap { Hex.decode(Array($0.utf8)) }
        guard known.count == tokens.count else {
            throw SimulatorError("a device token is an even number of hexadecimal digits")
        }
        return try await self.desk.ask { $0.service.ledger.compare(tokens: known) }
    }

    /// What the device of a token would get now, and what it shows.
    package func device(_ token: String) async throws -> DeviceReport {
        guard let bytes = Hex.decode(Array(token.utf8)), !bytes.isEmpty else {
            throw SimulatorError("a device token is an even number of hexadecimal digits")
        }
        return try await self.desk.ask { $0.service.device(bytes, at: $0.moment.wall) }
    }
}
