/// How many letters the next consumer of a walk may hold.
///
/// Few at first. Then as many as fit some memory by the mean of what was seen, since RabbitMQ reads from disk and sends
/// whatever it may at once; and many, since every consumer costs it an entry in the queue's log.
struct DeadLetterPrefetch {
    private static let first = 1000
    private static let most = 20_000
    private static let bytes = 32 << 20

    private var current = 0
    private var count = 0
    private var sum = 0
    /// Letters that the newest consumer holds to the end.
    var held = 0
    /// Letters that it had and that are gone.
    var removed = 0

    mutating func saw(bytes: Int) {
        self.count += 1
        self.sum += bytes
    }

    /// The newest consumer has no room, or too little for letters to flow through it.
    var needsMore: Bool { self.held >= self.current || (self.removed > 0 && self.held * 2 >= self.current) }

    /// What the next one gets.
    mutating func next() -> Int {
        let mean = max(1, self.sum / max(1, self.count))
        self.current = self.count == 0 ? Self.first : min(max(Self.bytes / mean, Self.first / 4), Self.most)
        self.held = 0
        self.removed = 0
        return self.current
    }
}
