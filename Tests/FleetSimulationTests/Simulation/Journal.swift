import Push

/// One push of a message; `number` is its own in the whole history.
struct SimulatedToken {
    let number: Int
    let device: Int
}

/// A message as it lies in a queue: the envelope's fields that rules look at, and our own headers.
struct SimulatedMessage {
    let name: Int
    /// Which work queue.
    let line: Int
    var tokens: [SimulatedToken]
    var attempt = 0
    /// How many copies it is away from what was published.
    var generation = 0
    var firstSeen: UnixTime?
    let timestamp: UnixTime
    var notBefore: UnixTime?
    var expiresAt: UnixTime?

    /// For the trace.
    var text: String { "message \(self.name) attempt \(self.attempt) pushes \(self.tokens.map(\.number))" }
}

/// Where every push is: how many messages in queues carry it, and how it ended. What no message carries and what did
/// not end is lost.
struct Journal {
    struct Entry {
        var carriers = 0
        var accepted = 0
        var dead = 0
        var gone = 0
        var isEnded: Bool { self.accepted + self.dead + self.gone > 0 }
    }

    private(set) var entries: [Entry] = []
    /// Pushes that have not ended yet.
    private(set) var open = 0
    /// Pushes that queues carry, ended or not.
    private(set) var carried = 0

    mutating func makeToken(device: Int) -> SimulatedToken {
        self.entries.append(Entry())
        self.open += 1
        return SimulatedToken(number: self.entries.count - 1, device: device)
    }

    mutating func carries(_ message: SimulatedMessage) {
        for token in message.tokens { self.entries[token.number].carriers += 1 }
        self.carried += message.tokens.count
    }

    /// A message is gone from its queue.
    /// - Returns: a push that is lost by that.
    mutating func drops(_ message: SimulatedMessage) -> Int? {
        var lost: Int?
        for token in message.tokens {
            self.entries[token.number].carriers -= 1
            let entry = self.entries[token.number]
            if entry.carriers == 0, !entry.isEnded { lost = token.number }
        }
        self.carried -= message.tokens.count
        return lost
    }

    mutating func end(_ token: Int, _ path: WritableKeyPath<Entry, Int>) {
        if !self.entries[token].isEnded { self.open -= 1 }
        self.entries[token][keyPath: path] += 1
    }
}
