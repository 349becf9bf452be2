internal import Push

/// An APNs that misbehaves on demand, on real TLS and HTTP/2, and remembers every request.
///
/// Its connections live on a loop of their own; its methods may be called from anywhere. What they ask for is done on
/// the loop, in the order of the calls.
package final class Simulator: Sendable {
    /// Where it listens for pushes, and for channel management.
    package struct Ports: Sendable {
        /// For pushes.
        package var pushes: UInt16
        /// For pushes as well; nil without a second one.
        package var alternate: UInt16?
        /// For pushes without TLS; nil without it.
        package var cleartext: UInt16?
        /// For channel management; nil without it.
        package var channels: UInt16?
    }

    package let ports: Ports
    /// Where it listens for control requests; nil without the control API.
    package let controlPort: UInt16?

    /// Where it listens for pushes.
    package var port: UInt16 { self.ports.pushes }
    /// Where it listens for channel management; nil without it.
    package var channelPort: UInt16? { self.ports.channels }

    let desk: SimulatorDesk
    private let control: ControlServer?

    private init(desk: SimulatorDesk, control: ControlServer?) {
        self.desk = desk
        self.ports = desk.ports
        self.control = control
        self.controlPort = control?.port
    }

    /// Starts a simulator; when this returns it listens.
    /// - Throws: ``SimulatorError``, when an address cannot be listened on or a certificate or key cannot be used.
    package static func start(_ settings: Settings) async throws -> Simulator {
        let desk = try SimulatorDesk.start(settings)
        guard let port = settings.controlPort else { return Simulator(desk: desk, control: nil) }
        do {
            let control = try await ControlServer.start(desk: desk, host: settings.controlHost, port: port)
            return Simulator(desk: desk, control: control)
        } catch {
            await desk.stop()
            throw SimulatorError("control API on \(settings.controlHost):\(port): \(error)")
        }
    }

    /// Ends everything: connections are reset, both ports are free when this returns. Calling it twice does nothing.
    package func stop() async {
        await self.control?.stop()
        await self.desk.stop()
    }

    // MARK: What it saw

    /// What it has seen, in numbers.
    package func summary() async throws -> LedgerSummary {
        try await self.desk.ask { $0.summary }
    }

    /// The requests that fit, the newest first.
    package func requests(_ filter: LedgerFilter = LedgerFilter()) async throws -> [LedgerRecord] {
        try await self.desk.ask { $0.service.records(filter) }
    }

    /// The newest push to a token that was accepted, with its body if that is still kept.
    /// - Parameters:
    ///   - token: hexadecimal digits in either case.
    ///   - topic: nil for any.
    package func lastPush(to token: String, topic: String? = nil) async throws -> LedgerRecord? {
        guard let bytes = Hex.decode(Array(token.utf8)) else { return nil }
        let topic = topic.map { Array($0.utf8) }
        return try await self.desk.ask { $0.service.lastPush(to: bytes, topic: topic) }
    }

    /// The newest connections, in the order in which they opened.
    package func connections(limit: Int = 1000) async throws -> [ConnectionRecord] {
        try await self.desk.ask { $0.connectionRecords(limit: limit) }
    }

    /// Whether the scenario that is played, if there is one, has nothing left to do.
    package func isScenarioOver() async throws -> Bool {
        try await self.desk.ask { $0.run?.timeline.isOver ?? true }
    }

    // MARK: What it shall do

    /// Adds a rule behind the others, or replaces the one with its id.
    /// - Returns: its id.
    /// - Throws: ``SimulatorError``, when it names a certificate that was not given.
    @discardableResult
    package func addRule(_ rule: FaultRule) async throws -> String {
        if let problem = try await self.desk.ask({ $0.problem(with: rule) }) {
            throw SimulatorError("\(problem.field) \(problem.problem)")
        }
        guard let id = try await self.desk.ask({ $0.addRule(rule) }) else { throw SimulatorError("too many rules") }
        return id
    }

    /// The rules in force, and how often each has hit.
    package func rules() async throws -> [FaultRuleUse] {
        try await self.desk.ask { $0.service.faults.uses }
    }

    /// Takes a rule back.
    /// - Returns: whether there was one.
    @discardableResult
    package func removeRule(_ id: String) async throws -> Bool {
        try await self.desk.ask { $0.service.removeRule(id) }
    }

    /// Takes all rules back.
    package func removeRules() async throws {
        try await self.desk.ask { $0.service.removeRules() }
    }

    /// Says what is known of a device token from now on.
    /// - Parameters:
    ///   - token: hexadecimal digits in either case.
    ///   - topic: nil for all.
    ///   - environment: nil for both.
    ///   - delay: how long pushes are still accepted before a 410 shows; nil for the simulator's own delay.
    /// - Throws: ``SimulatorError``, when `token` is no token.
    package func setToken(
        _ token: String,
        topic: String? = nil,
        environment: APNsEnvironment? = nil,
        to state: TokenState,
        showsAfter delay: Duration? = nil
    ) async throws {
        guard let bytes = Hex.decode(Array(token.utf8)), !bytes.isEmpty else {
            throw SimulatorError("a device token is an even number of hexadecimal digits")
        }
        let topic = topic.map { Array($0.utf8) }
        try await self.desk.ask { server in
            let now = server.moment.wall
            server.service.setToken(
                bytes,
                topic: topic,
                to: state,
                environment: environment,
                showsAt: delay.map { now + $0 },
                at: now
            )
        }
    }

    /// Says how tokens are answered that were never set.
    package func setUnknownTokens(_ unknown: UnknownTokens) async throws {
        try await self.desk.ask { $0.service.setUnknownTokens(unknown) }
    }

    /// Adds a provider key, or replaces the one with its id.
    package func addKey(_ key: ProviderKey) async throws {
        let error = try await self.desk.ask { server -> ProviderKeyError? in
            do throws(ProviderKeyError) {
                try server.service.addKey(key)
                return nil
            } catch {
                return error
            }
        }
        if let error { throw error }
    }

    /// From now on the key's tokens are invalid, on open connections as well.
    /// - Returns: whether there was such a key.
    @discardableResult
    package func revokeKey(_ id: String) async throws -> Bool {
        try await self.desk.ask { $0.service.revokeKey(id) }
    }

    /// Sets the time between a request's arrival and its answer, for requests that arrive from now on.
    package func setLatency(_ latency: Duration) async throws {
        try await self.setLatency(.fixed(latency))
    }

    /// Sets the time between a request's arrival and its answer, for requests that arrive from now on.
    package func setLatency(_ latency: Latency) async throws {
        try await self.desk.ask { $0.service.latency = latency }
    }

    /// Sets the stream limits, on open connections as well.
    package func setStreams(initial: UInt32? = nil, full: UInt32? = nil, dropsAfterRejection: Bool? = nil) async throws
    {
        try await self.desk.ask {
            $0.setStreams(initial: initial, full: full, dropsAfterRejection: dropsAfterRejection)
        }
    }

    /// Sends every connection a GOAWAY with `{"reason":…}`; each closes when what is under way on it is answered.
    /// - Returns: how many there were.
    @discardableResult
    package func goAwayAll(reason: String = "Shutdown") async throws -> Int {
        let debugData = "{\"reason\":\"\(reason.jsonEscaped)\"}"
        return try await self.desk.ask { $0.goAwayAll(code: 0, debugData: debugData, lastStream: .current) }
    }

    /// Ends every connection with a TCP reset.
    /// - Returns: how many there were.
    @discardableResult
    package func dropAllConnections() async throws -> Int {
        try await self.desk.ask { $0.dropAll() }
    }

    /// Forgets requests, rules and tokens, and goes back to the settings of the start; keys and connections stay.
    package func reset() async throws {
        try await self.desk.ask { $0.reset() }
    }
}

/// A simulator cannot do what was asked.
package struct SimulatorError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
