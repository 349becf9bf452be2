package import Broker
package import Store
package import Wire

/// What a gateway's loop is made of, read and checked before a thread is started.
package struct GatewayParts: Sendable {
    package var settings: GatewaySettings
    /// How RabbitMQ is reached; the connection that publishes and the one that consumes differ in their name.
    package var broker: BrokerSettings
    package var redis: RedisAddress
    /// Needed if the address says `rediss`.
    package var redisTLS: TLSContext?

    package init(
        _ settings: GatewaySettings,
        broker: BrokerSettings,
        redis: RedisAddress,
        redisTLS: TLSContext? = nil
    ) {
        self.settings = settings
        self.broker = broker
        self.redis = redis
        self.redisTLS = redisTLS
    }

    func broker(_ role: String) -> BrokerSettings {
        var settings = self.broker
        settings.connectionName += " " + role
        return settings
    }
}
