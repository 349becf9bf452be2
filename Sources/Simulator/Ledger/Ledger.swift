internal import Push

/// Every request that a simulator saw, and what can be told from them.
///
/// Entries have numbers that go up by one. When there are too many the oldest are dropped, and counted; the totals
/// count on.
struct Ledger: Sendable {
    struct Settings: Sendable {
        /// Entries that are kept.
        var limit = 1_000_000
        /// Of how many of the newest entries the body is kept.
        var keptBodies = 1000
    }

    /// What is written down when a request arrives.
    struct Arrival {
        var request: PushRequest
        /// The `apns-id`, the sender's own or the one it is given.
        var messageID: MessageID
        var connection: Int
        var stream: Int32
        var time: UnixTime
        /// What the sender is going to be told; 0 when nothing.
        var status: UInt16
        var reason: String?
        var isAccepted: Bool
        var rule: UInt16?
        var providerToken: Int?
    }

    let settings: Settings
    /// The oldest entry that is kept, and the one that comes next.
    private(set) var first: UInt64 = 1
    private(set) var next: UInt64 = 1
    private(set) var totals = LedgerTotals()
    private(set) var reasons: [String] = [""]
    private(set) var tokens = LedgerIndex()
    private(set) var ids = LedgerIndex()
    private var reasonNumbers: [String: UInt16] = [:]
    private var blocks: [LedgerBlock] = []
    /// The number of the first entry of `blocks[0]`.
    private var base: UInt64 = 1
    /// The first entry since the last reset.
    private var origin: UInt64 = 1
    /// The tokens whose sender was told 410, and for which topics.
    private var gone: [UInt64: Set<UInt64>] = [:]
    private var bodies: [[UInt8]]

    init(settings: Settings) {
        self.settings = settings
        self.bodies = Array(repeating: [], count: settings.keptBodies)
    }

    var count: Int { Int(self.next - self.first) }

    /// Roughly the bytes of memory that it holds, without the kept bodies.
    var footprint: Int {
        self.blocks.reduce(self.tokens.footprint + self.ids.footprint) { $0 + $1.footprint }
    }

    // MARK: Writing

    /// Writes down a request.
    /// - Returns: its number.
    mutating func record(_ arrival: Arrival) -> UInt64 {
        let sequence = self.next
        let request = arrival.request
        var flags: LedgerEntry.Flags = []
        if arrival.isAccepted { flags.insert(.accepted) }
        if request.messageID.value != nil { flags.insert(.hasOwnID) }
        if request.isBroadcast { flags.insert(.broadcast) }
        var previousWithID: UInt32 = 0
        let idKey = Digest.of(arrival.messageID)
        if let chain = self.ids.add(sequence, under: idKey, accepted: arrival.isAccepted) {
            self.totals.repeated += 1
            if arrival.isAccepted, chain.accepted > 0 { self.totals.duplicates += 1 }
            previousWithID = Self.distance(from: sequence, to: chain.newest)
        }
        var previousWithToken: UInt32 = 0
        if !request.token.isEmpty {
            let key = Digest.of(request.token)
            if let chain = self.tokens.add(sequence, under: key, accepted: arrival.isAccepted) {
                previousWithToken = Self.distance(from: sequence, to: chain.newest)
            }
            if !self.gone.isEmpty, self.gone[key]?.contains(Self.digest(request.topic)) == true {
                flags.insert(.afterGone)
                self.totals.afterGone += 1
            }
        }
        let reason = self.number(ofReason: arrival.reason)
        self.totals.add(status: arrival.status, reason: reason, isAccepted: arrival.isAccepted)
        let entry = LedgerEntry(
            arrival: arrival.time.milliseconds,
            messageID: arrival.messageID,
            expiration: request.expiration.value ?? .min,
            previousWithToken: previousWithToken,
            previousWithID: previousWithID,
            connection: UInt32(clamping: arrival.connection),
            stream: arrival.stream,
            offset: 0,
            bodyBytes: UInt32(clamping: request.bodySize),
            tokenBytes: 0,
            topicBytes: 0,
            status: arrival.status,
            reason: reason,
            rule: arrival.rule.map { $0 + 1 } ?? 0,
            providerToken: arrival.providerToken.map { UInt16(clamping: $0 + 1) } ?? 0,
            collapseBytes: 0,
            pushType: request.pushType.value?.rawValue ?? 0,
            priority: request.priority.value ?? 0,
            flags: flags
        )
        self.append(entry, of: request)
        return sequence
    }

    /// The answer was handed to the connection.
    mutating func answered(_ sequence: UInt64) {
        guard sequence >= self.origin else { return }
        self.totals.answered += 1
        guard let place = self.place(of: sequence) else { return }
        self.blocks[place.block].update(place.index) { $0.flags.insert(.answered) }
        let entry = self.blocks[place.block].entries[place.index]
        if entry.status == 410 {
            let block = self.blocks[place.block]
            self.gone[Self.digest(block.token(of: entry)), default: []].insert(Self.digest(block.topic(of: entry)))
        }
    }

    /// A GOAWAY told the sender that the request was not processed, so it was not.
    mutating func withdraw(_ sequence: UInt64) {
        guard let place = self.place(of: sequence) else { return }
        let entry = self.blocks[place.block].entries[place.index]
        guard !entry.flags.contains(.withdrawn), !entry.flags.contains(.answered) else { return }
        let wasAccepted = entry.flags.contains(.accepted)
        self.totals.withdraw(status: entry.status, reason: entry.reason, wasAccepted: wasAccepted)
        if wasAccepted {
            if self.ids.withdraw(under: Digest.of(entry.messageID)) > 0 { self.totals.duplicates -= 1 }
            _ = self.tokens.withdraw(under: Self.digest(self.blocks[place.block].token(of: entry)))
        }
        self.blocks[place.block].update(place.index) { entry in
            entry.flags.insert(.withdrawn)
            entry.flags.remove(.accepted)
            entry.status = 0
            entry.reason = 0
        }
    }

    /// The token was registered again: sending to it is right.
    mutating func isBack(_ token: [UInt8], topic: [UInt8]?) {
        if let topic {
            self.gone[Digest.of(token)]?.remove(Digest.of(topic))
        } else {
            self.gone[Digest.of(token)] = nil
        }
    }

    /// Forgets everything; numbers go on.
    mutating func reset() {
        let next = self.next
        self = Ledger(settings: self.settings)
        self.next = next
        self.first = next
        self.base = next
        self.origin = next
    }

    private mutating func append(_ entry: LedgerEntry, of request: PushRequest) {
        if (self.next - self.base).isMultiple(of: UInt64(LedgerBlock.capacity)) { self.blocks.append(LedgerBlock()) }
        self.blocks[self.blocks.count - 1].append(
            entry,
            token: request.token,
            topic: request.topic,
            collapseID: request.collapseID
        )
        if !self.bodies.isEmpty { self.bodies[Int(self.next % UInt64(self.bodies.count))] = request.body }
        self.next += 1
        if self.count > max(1, self.settings.limit) { self.dropOldest() }
    }

    private mutating func dropOldest() {
        let place = Int(self.first - self.base)
        let entry = self.blocks[0].entries[place]
        self.ids.drop(self.first, under: Digest.of(entry.messageID))
        let token = self.blocks[0].token(of: entry)
        if !token.isEmpty { self.tokens.drop(self.first, under: Self.digest(token)) }
        self.first += 1
        self.totals.dropped += 1
        if place == LedgerBlock.capacity - 1 {
            self.blocks.removeFirst()
            self.base += UInt64(LedgerBlock.capacity)
        }
    }

    private mutating func number(ofReason text: String?) -> UInt16 {
        guard let text else { return 0 }
        if let known = self.reasonNumbers[text] { return known }
        // Reasons come from the documentation and from rules; beyond that many they share the last number.
        let number = UInt16(clamping: min(self.reasons.count, 60_000))
        if Int(number) == self.reasons.count { self.reasons.append(text) }
        self.reasonNumbers[text] = number
        return number
    }

    private static func distance(from sequence: UInt64, to older: UInt64) -> UInt32 {
        UInt32(exactly: sequence - older) ?? 0
    }

    private static func digest(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.withUnsafeBytes { Digest.of($0) }
    }

    // MARK: Reading

    /// The block and the place in it of an entry that is kept.
    private func place(of sequence: UInt64) -> (block: Int, index: Int)? {
        guard sequence >= self.first, sequence < self.next else { return nil }
        let offset = Int(sequence - self.base)
        return (offset / LedgerBlock.capacity, offset % LedgerBlock.capacity)
    }

    /// An entry and the block that holds its variable parts.
    func entry(_ sequence: UInt64) -> (entry: LedgerEntry, block: LedgerBlock)? {
        guard let place = self.place(of: sequence) else { return nil }
        return (self.blocks[place.block].entries[place.index], self.blocks[place.block])
    }

    /// The body of an entry, if it still is one of the newest.
    func body(of sequence: UInt64) -> [UInt8]? {
        guard sequence >= self.first, sequence < self.next, self.next - sequence <= UInt64(self.bodies.count) else {
            return nil
        }
        return self.bodies[Int(sequence % UInt64(self.bodies.count))]
    }
}
