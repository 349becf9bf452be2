/// One request in the ledger, in fixed size; its token, topic and collapse id lie in the block's bytes.
struct LedgerEntry: Sendable {
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8

        /// The sender named an `apns-id`; else the id is ours.
        static let hasOwnID = Flags(rawValue: 1)
        /// The push was processed and found good, whatever the sender was told.
        static let accepted = Flags(rawValue: 2)
        /// The answer was handed to the connection.
        static let answered = Flags(rawValue: 4)
        /// A GOAWAY said that the request was not processed.
        static let withdrawn = Flags(rawValue: 8)
        /// The token had been answered with 410 before.
        static let afterGone = Flags(rawValue: 16)
        /// A broadcast: the token's bytes are the channel's id.
        static let broadcast = Flags(rawValue: 32)
    }

    /// Milliseconds since 1970.
    var arrival: Int64
    var messageID: MessageID
    /// `.min` when absent.
    var expiration: Int64
    /// How far back the same token, or the same id, was seen last; 0 when it was not, or too far away.
    var previousWithToken: UInt32
    var previousWithID: UInt32
    var connection: UInt32
    var stream: Int32
    /// Where the token begins in the block's bytes; the topic and the collapse id follow.
    var offset: UInt32
    var bodyBytes: UInt32
    var tokenBytes: UInt16
    var topicBytes: UInt16
    /// What the sender was, or is going to be, told; 0 when nothing.
    var status: UInt16
    /// An index into the ledger's reasons; 0 for none.
    var reason: UInt16
    /// An index of the fault rule that was applied, plus one; 0 for none.
    var rule: UInt16
    /// The number of the provider token, plus one; 0 for none.
    var providerToken: UInt16
    var collapseBytes: UInt8
    /// ``PushKind``'s raw value; 0 when absent or unknown.
    var pushType: UInt8
    /// 0 when absent or malformed.
    var priority: UInt8
    var flags: Flags
}

/// Entries that came one after the other, with their variable parts.
struct LedgerBlock: Sendable {
    private(set) var entries: [LedgerEntry] = []
    private var bytes: [UInt8] = []

    static let capacity = 4096

    init() {
        self.entries.reserveCapacity(Self.capacity)
        self.bytes.reserveCapacity(Self.capacity * 64)
    }

    /// Bytes of memory that it holds.
    var footprint: Int { self.entries.capacity * MemoryLayout<LedgerEntry>.stride + self.bytes.capacity }

    mutating func append(
        _ entry: LedgerEntry,
        token: [UInt8],
        topic: ArraySlice<UInt8>,
        collapseID: ArraySlice<UInt8>
    ) {
        var entry = entry
        entry.offset = UInt32(self.bytes.count)
        // What is longer was refused, and is shortened here.
        entry.tokenBytes = UInt16(min(token.count, 1024))
        entry.topicBytes = UInt16(min(topic.count, 256))
        entry.collapseBytes = UInt8(min(collapseID.count, 255))
        self.bytes.append(contentsOf: token[..<Int(entry.tokenBytes)])
        self.bytes.append(contentsOf: topic.prefix(Int(entry.topicBytes)))
        self.bytes.append(contentsOf: collapseID.prefix(Int(entry.collapseBytes)))
        self.entries.append(entry)
    }

    mutating func update(_ index: Int, _ body: (inout LedgerEntry) -> Void) {
        body(&self.entries[index])
    }

    func token(of entry: LedgerEntry) -> ArraySlice<UInt8> {
        self.bytes[Int(entry.offset)..<Int(entry.offset) + Int(entry.tokenBytes)]
    }

    func topic(of entry: LedgerEntry) -> ArraySlice<UInt8> {
        let start = Int(entry.offset) + Int(entry.tokenBytes)
        return self.bytes[start..<start + Int(entry.topicBytes)]
    }

    func collapseID(of entry: LedgerEntry) -> ArraySlice<UInt8> {
        let start = Int(entry.offset) + Int(entry.tokenBytes) + Int(entry.topicBytes)
        return self.bytes[start..<start + Int(entry.collapseBytes)]
    }
}
