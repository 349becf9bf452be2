/// How many messages one consumer may hold: what the worker's share of connections can really use, and not more.
///
/// Without a connection it is nothing: what a worker cannot send stays in RabbitMQ for one that can. Consumers of one
/// credential share what its connections carry. Messages with many tokens count for what they hold, by a running mean.
/// With a rate it is no more than that gives in two seconds: the rest is as well off in RabbitMQ.
struct PrefetchPlan {
    private let perConnection: Int
    private let rate: Int?
    private var meanTokens = 1.0
    private(set) var current = 0

    /// - Parameter rate: pushes per second that the app may send; nil if that is not limited.
    init(perConnection: Int, rate: Int? = nil) {
        self.perConnection = perConnection
        self.rate = rate
    }

    /// A message with so many tokens was received.
    mutating func received(tokens: Int) {
        self.meanTokens += (Double(tokens) - self.meanTokens) / 64
    }

    /// The new prefetch, or nil when the present one is near enough: changing it costs a round trip.
    /// - Parameters:
    ///   - connections: what the lease allows now.
    ///   - consumers: how many consumers share them.
    mutating func update(connections: Int, consumers: Int) -> Int? {
        let wanted = self.wanted(connections: connections, consumers: consumers)
        guard wanted != self.current else { return nil }
        let isNear = wanted > 0 && self.current > 0 && wanted * 3 < self.current * 4 && wanted * 4 > self.current * 3
        guard !isNear else { return nil }
        self.current = wanted
        return wanted
    }

    /// The consumer was given another prefetch by someone else.
    mutating func forget() {
        self.current = 0
    }

    private func wanted(connections: Int, consumers: Int) -> Int {
        guard connections > 0 else { return 0 }
        // An app's two lanes are seldom busy at once, hence twice the even share.
        let share = connections * self.perConnection * 2 / max(2, consumers)
        let messages = Int(Double(share) / max(1, self.meanTokens))
        // Above 2,000 a quorum queue gains nothing (RabbitMQ, "Consumer Acknowledgements and Publisher Confirms").
        let useful = self.rate.map { max(1, Int(Double($0 * 2) / max(1, self.meanTokens))) } ?? Self.most
        return min(max(messages, Self.least), Self.most, useful)
    }

    private static let least = 8
    private static let most = 2000
}
