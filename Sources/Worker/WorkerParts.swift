internal import Broker
internal import Store
internal import Wire

/// What a worker is made of, read and checked before a thread is started: from here on nothing in the configuration
/// can be at fault.
struct WorkerParts {
    let settings: FleetSettings
    let id: InstanceID
    /// Host, process and loop, as dead letters and RabbitMQ's tools show it.
    let name: String
    let threadName: String
    let version: String
    let host: String
    let processID: Int32
    /// Its number among the workers of its process, from 1; nil if there is only one.
    let loop: Int?
    let teller: Teller
    let vitals = VitalsBoard()
    let onDrainOrder: @Sendable (DrainOrder) -> Void
    let lease: LeaseSettings
    let credentials: [LoadedCredential]
    private let amqpAddress: AMQPAddress
    let redisAddress: RedisAddress
    let redisTLS: TLSContext?

    init(
        _ settings: FleetSettings,
        credentials: [LoadedCredential],
        version: String,
        host: String,
        processID: Int32,
        loop: Int?,
        teller: Teller,
        onDrainOrder: @escaping @Sendable (DrainOrder) -> Void = { _ in }
    ) throws {
        self.settings = settings
        self.id = InstanceID()
        self.name = "\(host):\(processID)" + (loop.map { ".\($0)" } ?? "")
        self.threadName = "worker" + (loop.map { "-\($0)" } ?? "")
        self.version = version
        self.host = host
        self.processID = processID
        self.loop = loop
        self.teller = teller
        self.onDrainOrder = onDrainOrder
        self.lease = try LeaseSettings(
            ttl: settings.budget.lease,
            heartbeat: settings.budget.heartbeat,
            quantum: settings.budget.quantum
        )
        self.credentials = credentials
        self.amqpAddress = try AMQPAddress(parsing: settings.amqp.url)
        self.redisAddress = try RedisAddress(settings.redis.url)
        self.redisTLS = self.redisAddress.usesTLS ? try TLSContext.client(trusting: settings.redis.caFile) : nil
    }

    /// The two AMQP connections differ only in their name.
    func amqp(_ role: String) -> BrokerSettings {
        var address = self.amqpAddress
        address.heartbeat = self.settings.amqpHeartbeat
        return BrokerSettings(
            address: address,
            connectionName: "pushfleet worker \(self.name) \(role)",
            authorities: self.settings.amqp.caFile
        )
    }
}
