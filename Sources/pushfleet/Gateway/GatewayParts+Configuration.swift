internal import Foundation
internal import Gateway
internal import Registry
internal import Store
internal import Wire
internal import Worker

extension LoadedConfiguration {
    /// What a gateway is made of.
    /// - Parameter port: goes before the configured one.
    func gatewayParts(port: UInt16?) throws -> GatewayParts {
        var gateway = self.gateway
        if let port { gateway.port = port }
        gateway.masterKeys = self.masterKeys
        let process = ProcessInfo.processInfo
        let name = "pushfleet gateway \(process.hostName):\(process.processIdentifier)"
        let redis = try RedisAddress(self.settings.redis.url)
        return GatewayParts(
            gateway,
            broker: try self.settings.brokerSettings(name: name),
            redis: redis,
            redisTLS: redis.usesTLS ? try TLSContext.client(trusting: self.settings.redis.caFile) : nil
        )
    }
}
