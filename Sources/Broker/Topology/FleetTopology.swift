package import Push

/// The exchanges and queues that the fleet lives on, by name and as a value.
///
/// All queues are quorum queues. Messages that leave a queue by a limit or a TTL do so at least once, which RabbitMQ
/// grants only together with `reject-publish` (https://www.rabbitmq.com/quorum-queues.html#dead-lettering).
package enum FleetTopology {
    /// Where backends publish, with the routing key `<app>.<lane>`; also where delayed messages come back.
    package static let exchange = "pushfleet"
    /// Takes what no binding of `exchange` takes; a queue of the same name keeps it.
    package static let unrouted = "pushfleet.unrouted"
    /// Takes dead letters, from workers and from the broker; a queue of the same name keeps them.
    package static let dead = "pushfleet.dead"
    /// Takes feedback about tokens: `<app>.gone`, which a queue of the same name keeps for a while, and
    /// `<app>.suspect`, which `suspect` keeps.
    package static let feedback = "pushfleet.feedback"
    /// The queue of tokens that may be fine elsewhere, apart from those that are gone: nobody shall delete them by
    /// mistake.
    package static let suspect = "pushfleet.suspect"
    /// Takes receipts, `<app>.<outcome>`; a queue of the same name keeps them for a while.
    package static let receipts = "pushfleet.receipts"

    /// How often RabbitMQ hands out a message before it calls it poison. High, as on RabbitMQ 3.10 every worker that
    /// crashes or loses its connection counts for all messages that it held.
    package static let deliveryLimit = 100
    /// How often dead letters may be looked at: each look takes them and gives them back, which the queue counts, and
    /// what is beyond the limit is gone. RabbitMQ 4 has a limit of 20 if none is given, and 3 does not take the -1 that
    /// means none to it (https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling).
    package static let deadLetterLookLimit: Int64 = 2_000_000_000
    /// How long feedback and receipts wait for somebody to take them.
    package static let feedbackTTL = Duration.seconds(14 * 24 * 3600)

    /// The queue of one app and lane.
    package static func workQueue(app: AppID, lane: Lane) -> String { "pushfleet.\(app.name).\(lane.rawValue)" }

    /// The routing key of one app and lane.
    package static func routingKey(app: AppID, lane: Lane) -> String { "\(app.name).\(lane.rawValue)" }

    /// The exchange in front of a delay queue, and the queue. Being a fanout exchange it takes any routing key and
    /// keeps it, so that the message finds its own work queue when its delay is over.
    package static func delayExchange(_ level: DelayLevel) -> String { level.queueName }

    /// Everything that the fleet needs for these apps and delays.
    package static func make(
        apps: some Sequence<AppID>,
        lanes: [Lane] = Lane.allCases,
        delays: some Sequence<DelayLevel>,
        deliveryLimit: Int = Self.deliveryLimit
    ) -> Topology {
        var topology = Topology(exchanges: [
            .init(self.exchange, .topic, arguments: [Header("alternate-exchange", .string(self.unrouted))]),
            .init(self.unrouted, .fanout),
            .init(self.dead, .fanout),
            .init(self.feedback, .topic),
            .init(self.receipts, .topic),
        ])
        let poisonStop = [Header("x-delivery-limit", .integer(Int64(deliveryLimit)))]
        topology.add(queue: self.unrouted, poisonStop + self.deadLettering(to: self.dead))
        topology.add(queue: self.dead, [Header("x-delivery-limit", .integer(self.deadLetterLookLimit))])
        let expiry = [Header("x-message-ttl", .integer(self.feedbackTTL.milliseconds))]
        topology.add(queue: self.feedback, expiry, routingKey: "#.gone")
        topology.bindings.append(.init(queue: self.feedback, exchange: self.feedback, routingKey: "#.channel_gone"))
        topology.add(queue: self.suspect, expiry, from: self.feedback, routingKey: "#.suspect")
        topology.add(queue: self.receipts, expiry, routingKey: "#")
        // Once this queue took everything; suspect tokens must not get there.
        topology.removedBindings = [.init(queue: self.feedback, exchange: self.feedback, routingKey: "#")]
        for app in apps {
            for lane in lanes {
                topology.add(
                    queue: self.workQueue(app: app, lane: lane),
                    poisonStop + self.deadLettering(to: self.dead),
                    from: self.exchange,
                    routingKey: self.routingKey(app: app, lane: lane)
                )
            }
        }
        for level in delays {
            let ttl = Header("x-message-ttl", .integer(level.milliseconds))
            topology.exchanges.append(.init(self.delayExchange(level), .fanout))
            topology.add(queue: level.queueName, [ttl] + self.deadLettering(to: self.exchange))
        }
        return topology
    }

    private static func deadLettering(to exchange: String) -> [Header] {
        [
            Header("x-dead-letter-exchange", .string(exchange)),
            Header("x-dead-letter-strategy", .string("at-least-once")),
            Header("x-overflow", .string("reject-publish")),
        ]
    }
}

extension Topology {
    /// Adds a quorum queue and its binding, to the exchange of the same name unless another is named.
    fileprivate mutating func add(
        queue: String,
        _ arguments: [Header],
        from exchange: String? = nil,
        routingKey: String = ""
    ) {
        self.queues.append(Queue(queue, arguments: [Header("x-queue-type", .string("quorum"))] + arguments))
        self.bindings.append(Binding(queue: queue, exchange: exchange ?? queue, routingKey: routingKey))
    }
}
