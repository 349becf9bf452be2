internal import Broker
internal import Push

/// What gateways need in RabbitMQ beside the fleet's own exchanges and queues.
enum GatewayTopology {
    /// Takes orders to fan out; a queue of the same name keeps them until they are done.
    static let fanOut = "pushfleet.gateway.fanout"
    /// Takes from the fleet's feedback what concerns endpoints: tokens that are gone.
    static let feedback = "pushfleet.gateway.feedback"
    /// Takes from the fleet's receipts those of applications that want delivery status.
    static let receipts = "pushfleet.gateway.receipts"
    /// Takes messages for single subscribers; a queue of the same name keeps them until they are delivered.
    static let webhooks = "pushfleet.gateway.webhooks"
    /// Seconds that messages for subscribers wait at a time: one queue each, so that nobody waits behind another. A wait
    /// is put together of these.
    static let waits = [1, 5, 10, 20, 60, 300, 1200, 3600]

    static func waitQueue(_ seconds: Int) -> String { "\(Self.webhooks).\(seconds)s" }

    /// Takes event notifications by the name of their topic; a queue of the same name keeps them for a while.
    static let events = "pushfleet.events"
    /// Takes delivery status by the name of the app; a queue of the same name keeps it for a while.
    static let status = "pushfleet.delivery_status"

    /// Everything that is not an application's.
    static var common: Topology {
        var topology = FleetTopology.make(apps: [], delays: DelayLadder(schedules: [.standard]).levels)
        for exchange in [Self.fanOut, Self.webhooks, Self.events, Self.status] {
            topology.exchanges.append(.init(exchange, .topic))
        }
        // An order that crashes whoever takes it must not do so for ever.
        let limits = [
            Header("x-delivery-limit", .integer(Int64(FleetTopology.deliveryLimit))),
            Header("x-dead-letter-exchange", .string(FleetTopology.dead)),
            Header("x-dead-letter-strategy", .string("at-least-once")),
            Header("x-overflow", .string("reject-publish")),
        ]
        let expiry = [Header("x-message-ttl", .integer(FleetTopology.feedbackTTL.milliseconds))]
        topology.queues += [
            Self.queue(Self.fanOut, limits), Self.queue(Self.webhooks, limits), Self.queue(Self.feedback, expiry),
            Self.queue(Self.receipts, expiry),
            Self.queue(Self.events, expiry), Self.queue(Self.status, expiry),
        ]
        topology.bindings += [
            .init(queue: Self.fanOut, exchange: Self.fanOut, routingKey: "#"),
            .init(queue: Self.webhooks, exchange: Self.webhooks, routingKey: "#"),
            .init(queue: Self.feedback, exchange: FleetTopology.feedback, routingKey: "sns.#.gone"),
            .init(queue: Self.receipts, exchange: FleetTopology.receipts, routingKey: "sns.#"),
            .init(queue: Self.events, exchange: Self.events, routingKey: "#"),
            .init(queue: Self.status, exchange: Self.status, routingKey: "#"),
        ]
        for seconds in Self.waits {
            let back = [
                Header("x-message-ttl", .integer(Int64(seconds) * 1000)),
                Header("x-dead-letter-exchange", .string(Self.webhooks)),
                Header("x-dead-letter-strategy", .string("at-least-once")),
                Header("x-overflow", .string("reject-publish")),
            ]
            topology.queues.append(Self.queue(Self.waitQueue(seconds), back))
        }
        return topology
    }

    /// The queues of one platform application, and what they need.
    static func application(_ app: AppID) -> Topology {
        FleetTopology.make(apps: [app], delays: DelayLadder(schedules: [.standard]).levels)
    }

    private static func queue(_ name: String, _ arguments: [Header]) -> Topology.Queue {
        Topology.Queue(name, arguments: [Header("x-queue-type", .string("quorum"))] + arguments)
    }
}
