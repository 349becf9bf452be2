extension Simulator {
    /// What a simulator plays, where, and how strictly.
    package struct Settings: Sendable {
        /// A literal IPv4 address.
        package var host = "127.0.0.1"
        /// 0: a free one.
        package var port: UInt16 = 0
        /// A second port for pushes, as Apple has 2197 beside 443; 0: a free one; nil: none.
        package var alternatePort: UInt16?
        /// A port for pushes over HTTP/2 without TLS (prior knowledge, RFC 9113 §3.3), which Apple has not: what a
        /// benchmark measures then is HTTP/2 alone. 0: a free one; nil: none.
        package var cleartextPort: UInt16?
        /// The address of the control API, which knows no passwords: leave it on loopback.
        package var controlHost = "127.0.0.1"
        /// 0: a free one; nil: no control API.
        package var controlPort: UInt16? = 0
        /// The port of the channel management API, on the host of pushes; 0: a free one; nil: none.
        package var channelPort: UInt16?
        /// Broadcast channels that one app may have.
        package var channelLimit = 10_000
        /// Whether deleting an unknown channel gives 404 `BadPath`; else 400 `ChannelNotRegistered`.
        package var deletesUnknownChannelsAsBadPath = false
        /// PEM file of the server's certificate chain.
        package var certificate: String
        /// PEM file of its private key.
        package var privateKey: String
        /// PEM file of the authorities that sign providers' certificates; nil: any certificate is looked at.
        package var clientAuthorities: String?
        package var environment = APNsEnvironment.production
        package var keys: [ProviderKey] = []
        /// Whether provider tokens of keys that were never added are taken without a check of their signature: to try
        /// things out without keys. Apple takes none.
        package var acceptsAnyKey = false
        /// The apps of the provider's team; nil: any topic will do.
        package var bundleIDs: Set<String>?
        package var unknownTokens = UnknownTokens.accept
        /// Whether a body that is no JSON object is refused, with 400 `BadRequestPayload`; Apple names no reason.
        package var refusesMalformedBodies = false
        /// Between a request's arrival and its answer; rounded up to milliseconds, 0 answers at once.
        package var latency: Duration = .zero
        /// Instead of ``latency``, one that is drawn anew for each request.
        package var drawnLatency: Latency?
        /// Seconds that pass in the simulator in each second; see ``VirtualClock``.
        package var clockScale = 1.0
        /// Streams per connection before the first good provider token.
        package var initialStreams: UInt32 = 1
        /// Streams per connection after it.
        package var streams: UInt32 = 1000
        /// Whether a refused push lowers the limit to 1 until the next good one.
        package var dropsStreamsAfterRejection = false
        package var overflow = StreamOverflow.refuse
        /// INITIAL_WINDOW_SIZE and the window of the whole connection.
        package var window: UInt32 = 65_535
        package var connectionWindow: UInt32 = 65_535
        /// The age at which a provider token is too old.
        package var providerTokenAge: Duration = .seconds(3600)
        /// The least time between two new provider tokens.
        package var providerTokenInterval: Duration = .seconds(20 * 60)
        package var providerTokenScope = ProviderTokenScope.connection
        package var environmentKeySpelling = EnvironmentKeySpelling.wire
        /// In which order a request is looked at; every step once.
        package var checkOrder = CheckStep.allCases
        /// How long pushes to a token that is gone are still accepted before 410 shows.
        package var goneReportDelay: Duration = .zero
        /// How many pushes one device token may get in a row; nil: any number, as it should be when a load generator
        /// sends all its pushes to one.
        package var tokenRate: TokenRate?
        package var policy = ConnectionPolicy()
        /// Certificates that fault rules may have the simulator show instead of its own, by name.
        package var certificates: [String: CertificateFiles] = [:]
        /// The same seed and the same requests give the same faults.
        package var seed: UInt64 = 1
        /// Requests that the ledger keeps.
        package var ledgerLimit = 1_000_000
        /// Of how many of the newest requests the body is kept.
        package var keptBodies = 1000
        /// What it plays; see ``Scenario``.
        package private(set) var scenario: Scenario?

        package init(certificate: String, privateKey: String) {
            self.certificate = certificate
            self.privateKey = privateKey
        }

        /// Has a scenario played, whose seed and settings go before those set so far.
        package mutating func play(_ scenario: Scenario) {
            self.scenario = scenario
            if let seed = scenario.seed { self.seed = seed }
        }

        /// What connections are told in their first SETTINGS.
        var windows: FaultRule.SettingsForm {
            var windows = FaultRule.SettingsForm()
            windows.window = self.window
            windows.connectionWindow = self.connectionWindow
            return windows
        }

        var service: PushService.Settings {
            var settings = PushService.Settings()
            settings.providerTokens.environment = self.environment
            settings.providerTokens.acceptsAnyKey = self.acceptsAnyKey
            settings.providerTokens.updateInterval = self.providerTokenInterval
            settings.providerTokens.maximumAge = self.providerTokenAge
            settings.providerTokens.updateScope = self.providerTokenScope
            settings.providerTokens.spelling = self.environmentKeySpelling
            settings.checkOrder = self.checkOrder
            settings.goneReportDelay = self.goneReportDelay
            settings.tokenRate = self.tokenRate
            settings.policy = self.policy
            settings.bundleIDs = self.bundleIDs
            settings.unknownTokens = self.unknownTokens
            settings.malformedBody = self.refusesMalformedBodies ? .refuse : .accept
            settings.streams.initial = self.initialStreams
            settings.streams.full = self.streams
            settings.streams.dropsAfterRejection = self.dropsStreamsAfterRejection
            settings.latency = self.drawnLatency ?? .fixed(self.latency)
            settings.seed = self.seed
            settings.ledger.limit = self.ledgerLimit
            settings.ledger.keptBodies = self.keptBodies
            settings.channelLimit = self.channelLimit
            settings.unknownChannelDeletion = self.deletesUnknownChannelsAsBadPath ? .badPath : .channelNotRegistered
            return settings
        }
    }
}
