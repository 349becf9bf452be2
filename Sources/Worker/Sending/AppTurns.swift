/// Whose push it is, and how large the app's turns are.
struct AppTurn: Hashable {
    /// The app's number at this worker.
    let app: Int
    /// `apps.*.weight`: its part beside other apps that have something waiting.
    let weight: Int

    init(app: Int, weight: Int = 1) {
        self.app = app
        self.weight = weight
    }
}

/// Apps that have pushes waiting take turns (weighted round robin): however much one has waiting, the next push of
/// another is at most one turn of each away.
struct AppTurns {
    private var waiting: [WaitingPushes] = []
    /// Apps with something waiting, in the order of their turns.
    private var ring: [AppTurn] = []
    private var head = 0
    /// How many pushes the app at the head may still take in its turn; 0 before it has begun.
    private var left = 0

    var isEmpty: Bool { self.head == self.ring.count }

    /// Pushes in a row for each unit of weight: neighbours that are alike make small headers.
    private static let turn = 8

    /// - Precondition: `tokens` is not empty.
    mutating func append(_ flight: FlightID, tokens: Range<Int>, of turn: AppTurn) {
        while self.waiting.count <= turn.app { self.waiting.append(WaitingPushes()) }
        if self.waiting[turn.app].isEmpty { self.ring.append(turn) }
        self.waiting[turn.app].append(flight, tokens: tokens)
    }

    /// The next push of the app whose turn it is, among those that may.
    mutating func takeFirst(where mayGo: (Int) -> Bool) -> (push: SendQueue.Push, app: Int)? {
        for _ in self.head..<self.ring.count {
            let turn = self.ring[self.head]
            guard mayGo(turn.app) else {
                self.passOn(turn)
                continue
            }
            if self.left == 0 { self.left = Self.turn * turn.weight }
            guard let push = self.waiting[turn.app].takeFirst() else { return nil }
            self.left -= 1
            if self.waiting[turn.app].isEmpty {
                self.leave()
            } else if self.left == 0 {
                self.passOn(turn)
            }
            return (push, turn.app)
        }
        return nil
    }

    /// The next entry whole, for another queue.
    mutating func takeFirstEntry() -> (flight: FlightID, tokens: Range<Int>, turn: AppTurn)? {
        guard !self.isEmpty else { return nil }
        let turn = self.ring[self.head]
        guard let (flight, tokens) = self.waiting[turn.app].takeFirstEntry() else { return nil }
        if self.waiting[turn.app].isEmpty { self.leave() }
        return (flight, tokens, turn)
    }

    private mutating func passOn(_ turn: AppTurn) {
        self.leave()
        self.ring.append(turn)
    }

    private mutating func leave() {
        self.left = 0
        self.head += 1
        if self.head == self.ring.count {
            self.ring.removeAll(keepingCapacity: true)
            self.head = 0
        } else if self.head > 256, self.head * 2 > self.ring.count {
            self.ring.removeFirst(self.head)
            self.head = 0
        }
    }
}
