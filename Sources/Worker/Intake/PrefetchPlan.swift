internal import Push

/// How many messages one consumer may hold: what the worker's share of connections can really use, and not more.
///
/// Without a connection it is nothing: what a worker cannot send stays in RabbitMQ for one that can. Consumers of one
/// credential share what its connections carry, by weight and by what each has had to do of late. Messages with many
/// tokens count for what they hold, by a running mean. With a rate it is no more than that gives in two seconds: the
/// rest is as well off in RabbitMQ.
struct PrefetchPlan {
    private let rate: Int?
    private var meanTokens = 1.0
    private var highest = 0
    private var demand = Demand()
    private(set) var current = 0

    /// - Parameter rate: pushes per second that the app may send; nil if that is not limited.
    init(rate: Int? = nil) {
        self.rate = rate
    }

    /// A message with so many tokens was received, and so many messages are held now.
    /// - Returns: whether it would take more than it may.
    mutating func received(tokens: Int, held: Int) -> Bool {
        self.meanTokens += (Double(tokens) - self.meanTokens) / 64
        self.highest = max(self.highest, held)
        return self.isFull
    }

    private var isFull: Bool { self.current > 0 && self.highest * 8 >= self.current * 7 }

    /// What it would hold if it could, in pushes: who is full asks for four times as much, and who is not any more gives
    /// up the rest only after a while, since every change costs the broker a new consumer.
    mutating func wish(at now: MonotonicTime) -> Int {
        let messages = self.isFull ? min(self.current * 4, Self.most) : self.highest
        self.highest = 0
        return Int(Double(self.demand.noted(messages, at: now)) * max(1, self.meanTokens))
    }

    /// The new prefetch, or nil when the present one is near enough: changing it costs a round trip.
    /// - Parameter share: pushes that it may hold; nil without a connection.
    mutating func update(share: Int?) -> Int? {
        let wanted = share.map { self.messages(of: $0) } ?? 0
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

    private func messages(of share: Int) -> Int {
        let messages = Int(Double(share) / max(1, self.meanTokens))
        // Above 2,000 a quorum queue gains nothing (RabbitMQ, "Consumer Acknowledgements and Publisher Confirms").
        let useful = self.rate.map { max(1, Int(Double($0 * 2) / max(1, self.meanTokens))) } ?? Self.most
        return min(max(messages, Self.least), Self.most, useful)
    }

    private static let least = 8
    private static let most = 2000
}
