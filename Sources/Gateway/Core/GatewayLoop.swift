package import Broker
package import Loop
internal import Push
package import Store

/// The one thread of a gateway that talks to Redis and RabbitMQ.
///
/// What the server's handlers ask for comes here by one hop; all that was asked for in one turn leaves in one write to
/// each of them.
final class GatewayLoop {
    let loop: EventLoop
    let parts: GatewayParts
    let metrics: Metrics
    let redis: RedisClient
    let outbox: Outbox
    private let client: BrokerClient

    init(_ parts: GatewayParts, metrics: Metrics, on loop: EventLoop) throws {
        self.loop = loop
        self.parts = parts
        self.metrics = metrics
        var redis = RedisClient.Settings()
        redis.clientName = "pushfleet-gateway"
        self.redis = RedisClient(address: parts.redis, tls: parts.redisTLS, settings: redis, on: loop)
        let state = BrokerState()
        self.client = try BrokerClient(parts.broker("publish"), on: loop, delegate: state)
        self.outbox = Outbox(self.client, state: state, metrics: metrics)
    }

    func start() {
        self.redis.start()
    }

    /// Why it cannot serve now: a sentence for each server that is away; empty if all is well.
    var obstacles: [String] {
        var obstacles: [String] = []
        switch self.redis.state {
        case .ready: break
        case .connecting, .stopped: obstacles.append("Redis: connecting")
        case .waiting(let reason), .authenticationFailed(let reason): obstacles.append("Redis: \(reason)")
        }
        if let obstacle = self.outbox.obstacle { obstacles.append("RabbitMQ: \(obstacle)") }
        return obstacles
    }

    /// Closes both connections in good order.
    func stop(_ completion: @escaping () -> Void) {
        self.outbox.close { [redis] in
            redis.stop()
            completion()
        }
    }
}
