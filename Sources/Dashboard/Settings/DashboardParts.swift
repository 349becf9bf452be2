package import Broker
package import Store

/// What a dashboard is made of, read and checked before anything is started.
package struct DashboardParts: Sendable {
    package var settings: DashboardSettings
    package var broker: BrokerSettings
    package var redis: RedisAddress
    /// PEM file of the authorities to trust for `rediss`; nil for the system's.
    package var redisAuthorities: String?
    /// What the page shows as the server's version.
    package var version: String
    /// Every reason that the fleet can explain.
    package var reasons: [ExplainedReason]
    /// What the fleet is configured to be, with the apps that live in Redis; nil if these are not known.
    package var fleet: @Sendable (StoredApps?) -> ConfiguredFleet

    package init(
        _ settings: DashboardSettings,
        broker: BrokerSettings,
        redis: RedisAddress,
        redisAuthorities: String? = nil,
        version: String,
        reasons: [ExplainedReason],
        fleet: @escaping @Sendable (StoredApps?) -> ConfiguredFleet
    ) {
        self.settings = settings
        self.broker = broker
        self.redis = redis
        self.redisAuthorities = redisAuthorities
        self.version = version
        self.reasons = reasons
        self.fleet = fleet
    }
}
