package import Push
package import Registry
package import SNS
package import WebServer

/// Everything the operator decides about one gateway, as plain values.
package struct GatewaySettings: Sendable {
    /// The address to listen on; default this machine only.
    package var host = "127.0.0.1"
    /// The port; 0 takes a free one.
    package var port: UInt16 = 9911
    /// Serves HTTPS with this certificate; nil for plain HTTP, behind a proxy or on a private network.
    package var tls: WebServer.TLSFiles?
    /// The region that ARNs and signatures name; default `us-east-1`.
    package var region = "us-east-1"
    /// The account that ARNs name, 12 digits.
    package var account = "000000000000"
    /// Who may ask, by access key id.
    package var keys: [AccessKeySettings] = []
    /// Whether requests without a signature are answered as well, with all rights.
    package var allowsAnonymous = false
    /// How far a signature's time may be from ours, either way; default 15 minutes, as Amazon's.
    package var skew: Duration = .seconds(900)
    /// Connections that are open at a time; more wait to be accepted. Default 4096.
    package var connectionLimit = 4096
    /// How long a client may take to send a request, and how long an idle connection stays open; default 60 s.
    package var requestTimeout: Duration = .seconds(60)
    /// How long a stopping gateway waits for requests that are under way; default 20 s.
    package var drainTimeout: Duration = .seconds(20)
    /// What opens the credentials in Redis; nil if none was given, and then none can be put there.
    package var masterKeys: SealingKeys?
    /// How messages go to http subscribers.
    package var webhooks = WebhookSettings()
    /// Whether registering a token again changes its endpoint instead of being refused, and enables it; default false, as
    /// Amazon does.
    package var upserts = false
    /// Whether only three endpoints may be made with one token, as with Amazon; default true.
    package var limitsSlots = true
    /// Where Apple is, for credentials that come through the API.
    package var apns = APNsSettings()

    package init() {}

    var listening: ListeningServer.Settings {
        ListeningServer.Settings(
            host: self.host,
            port: self.port,
            tls: self.tls,
            patience: self.requestTimeout,
            connectionLimit: self.connectionLimit,
            drainTimeout: self.drainTimeout
        )
    }

    /// How workers reach Apple with credentials that come through the API.
    package struct APNsSettings: Sendable, Equatable {
        /// Connections that all workers together may hold with one such credential; default 4.
        package var maxConnections = 4
        /// A host other than Apple's, for a simulator.
        package var host: String?
        /// The port there.
        package var port: UInt16?
        /// PEM file of the authorities to trust there.
        package var caFile: String?

        package init() {}
    }
}

/// One backend's access key.
package struct AccessKeySettings: Sendable, Equatable {
    /// What the operator calls it; the user of error messages.
    package var name: String
    /// The access key id that requests name.
    package var id: String
    /// The secret access key. Never logged.
    package var secret: String
    /// What it may do.
    package var policy: AccessPolicy
    /// Calls per second at all gateways together; nil for no limit.
    package var rate: RateLimit?

    package init(name: String, id: String, secret: String, policy: AccessPolicy = .all, rate: RateLimit? = nil) {
        self.name = name
        self.id = id
        self.secret = secret
        self.policy = policy
        self.rate = rate
    }
}
