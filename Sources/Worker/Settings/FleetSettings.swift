package import Store

/// Everything the operator decides, as plain values. Read from file and environment elsewhere; checked there too.
package struct FleetSettings: Sendable {
    /// RabbitMQ.
    package var amqp: ServerSettings
    /// How often an idle AMQP connection shows that it is alive; default 10 s.
    package var amqpHeartbeat: Duration = .seconds(10)
    /// Redis.
    package var redis: ServerSettings
    /// Keys and budgets by the operator's name for them, sorted by name; behind each what is derived from it for
    /// broadcasts.
    package var credentials: [CredentialSettings] = []
    /// Apps, sorted by id.
    package var apps: [AppSettings] = []
    /// How the fleet shares connections.
    package var budget = BudgetSettings()
    /// What one worker does.
    package var worker = WorkerSettings()
    /// What can be found of the past.
    package var trail = TrailSettings()

    package init(amqp: ServerSettings, redis: ServerSettings) {
        self.amqp = amqp
        self.redis = redis
    }

    /// Adds what broadcasts have to themselves, once the operator's credentials are complete.
    package mutating func deriveBroadcastCredentials() {
        self.credentials = self.credentials.flatMap { [$0] + ($0.forBroadcasts.map { [$0] } ?? []) }
    }
}

/// Where a server is and whom to trust there.
package struct ServerSettings: Sendable, Equatable {
    /// `amqp(s)://` or `redis(s)://`, with user and password: a secret, never logged.
    package var url: String
    /// PEM file of the certificate authorities to trust; nil for the system's.
    package var caFile: String?

    package init(url: String, caFile: String? = nil) {
        self.url = url
        self.caFile = caFile
    }
}

/// How the fleet shares APNs connections through Redis.
package struct BudgetSettings: Sendable, Equatable {
    /// How long a worker may use what it was granted without hearing from Redis again; default 20 s.
    package var lease: Duration = .seconds(20)
    /// How often a worker renews its lease; default 3 s. At most a sixth of the lease.
    package var heartbeat: Duration = .seconds(3)
    /// How long a worker may keep its turn when there are more workers than connections; default 30 s.
    package var quantum: Duration = .seconds(30)
    /// Connections that all workers together may open in a second with one credential; default 10, at most 1000.
    package var connectRate = 10

    package init() {}
}

/// What one worker does with its share.
package struct WorkerSettings: Sendable, Equatable {
    /// Workers in one process, each on a thread of its own; default 1, at most 64.
    package var loops = 1
    /// How long a stopping worker waits for what is in flight; default 20 s.
    package var drainTimeout: Duration = .seconds(20)
    /// How long a request waits for Apple's answer; default 20 s.
    package var requestTimeout: Duration = .seconds(20)
    /// After this long without anything from Apple a PING asks whether it is there; default 45 s.
    package var pingInterval: Duration = .seconds(45)
    /// How long after a PING something must arrive; default 10 s.
    package var pingTimeout: Duration = .seconds(10)
    /// Age at which a connection is replaced, give or take a quarter; default 12 h.
    package var maxConnectionAge: Duration = .seconds(12 * 3600)
    /// Requests in flight on one connection beyond which a worker asks for another; default 500.
    package var streamsPerConnection = 500
    /// Requests in flight for one device token; default 8. More wait, without holding up other tokens.
    package var streamsPerToken = 8
    /// Messages held per granted connection; default 750. RabbitMQ advises against more than 2,000 per consumer.
    package var prefetchPerConnection = 750
    /// How often counters are written; default 500 ms.
    package var counterInterval: Duration = .milliseconds(500)
    /// The address of the process' probes and metrics.
    package var adminHost = "127.0.0.1"
    /// The port there, one for each process; 0 for a free one, nil for none of it.
    package var adminPort: UInt16?

    package init() {}
}
