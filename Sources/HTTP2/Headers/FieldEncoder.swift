internal import Glibc

/// Turns header fields into the blocks of one connection (HPACK, RFC 7541), and keeps the peer's dynamic table in mind.
///
/// What repeats, the provider token above all, costs a byte or two from its second request on; Apple's "Establishing a
/// connection to APNs" allows that, libraries that hold `authorization` for a secret of one request do not. Text is
/// sent as it is: Huffman's code would save a fifth of a path and cost more than all the rest of this.
struct FieldEncoder: ~Copyable {
    /// What a peer that says nothing keeps (RFC 9113 §6.5.2), and the most that we use.
    static let mostBytes = 4096

    private struct Entry {
        let name: UnsafePointer<UInt8>
        let nameSize: Int
        let value: UnsafeMutablePointer<UInt8>
        let valueSize: Int

        /// RFC 7541 §4.1.
        var size: Int { self.nameSize + self.valueSize + 32 }
    }

    /// Oldest first.
    private var entries: [Entry] = []
    private var size = 0
    private var capacity = FieldEncoder.mostBytes
    /// What the next block must say first: the lowest capacity since the last one, when it has changed.
    private var lowestCapacity: Int?

    deinit {
        for entry in self.entries { entry.value.deallocate() }
    }

    /// The peer keeps a table of this many bytes from now on (SETTINGS_HEADER_TABLE_SIZE).
    mutating func limitTable(to bytes: Int) {
        let capacity = min(bytes, Self.mostBytes)
        guard capacity != self.capacity else { return }
        self.lowestCapacity = min(self.lowestCapacity ?? self.capacity, capacity)
        self.capacity = capacity
        self.evict(for: 0)
    }

    /// Appends the block of a request: what the connection gives, then its own fields.
    mutating func append(
        _ front: UnsafeBufferPointer<HeaderField>,
        _ fields: UnsafeBufferPointer<HeaderField>,
        to block: inout FlatBuffer
    ) {
        let start = block.count
        var most = 16
        for field in front { most += BlockWriter.most(field) }
        for field in fields { most += BlockWriter.most(field) }
        var writer = BlockWriter(block.extend(by: most))
        let first = writer.next
        if let lowest = self.lowestCapacity {
            // RFC 7541 §4.2: the lowest value in between is told as well.
            if lowest < self.capacity { writer.integer(lowest, bits: 5, first: 0x20) }
            writer.integer(self.capacity, bits: 5, first: 0x20)
            self.lowestCapacity = nil
        }
        for field in front { self.write(field, &writer) }
        for field in fields { self.write(field, &writer) }
        block.cut(to: start + (writer.next - first))
    }

    private mutating func write(_ field: HeaderField, _ writer: inout BlockWriter) {
        if field.statics.upperBound - field.statics.lowerBound > 1,
            let index = StaticTable.entry(among: field.statics, with: field.value, field.valueSize)
        {
            return writer.integer(index, bits: 7, first: 0x80)
        }
        var name = Int(field.statics.lowerBound)
        if field.indexing != .none {
            var index = StaticTable.count
            for entry in self.entries.reversed() {
                if entry.name == field.name {
                    if field.indexing == .full, entry.valueSize == field.valueSize,
                        memcmp(entry.value, field.value, field.valueSize) == 0
                    {
                        return writer.integer(index, bits: 7, first: 0x80)
                    }
                    if name == 0 { name = index }
                }
                index += 1
            }
        }
        let isNew = field.indexing == .full || field.indexing == .nameOnly && name == 0
        let enters = isNew && field.nameSize + field.valueSize + 32 <= self.capacity
        writer.integer(name, bits: enters ? 6 : 4, first: enters ? 0x40 : 0)
        if name == 0 { writer.text(field.name, field.nameSize) }
        writer.text(field.value, field.valueSize)
        if enters { self.enter(field) }
    }

    private mutating func enter(_ field: HeaderField) {
        let value = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, field.valueSize))
        value.update(from: field.value, count: field.valueSize)
        let entry = Entry(name: field.name, nameSize: field.nameSize, value: value, valueSize: field.valueSize)
        self.evict(for: entry.size)
        self.entries.append(entry)
        self.size += entry.size
    }

    /// Drops the oldest entries, as the peer does, until so many bytes fit.
    private mutating func evict(for bytes: Int) {
        var leaving = 0
        while self.size + bytes > self.capacity {
            self.size -= self.entries[leaving].size
            self.entries[leaving].value.deallocate()
            leaving += 1
        }
        if leaving > 0 { self.entries.removeFirst(leaving) }
    }
}

/// Writes the elements of a header block (RFC 7541 §5) into memory that is large enough.
struct BlockWriter {
    private(set) var next: UnsafeMutablePointer<UInt8>

    init(_ start: UnsafeMutableRawPointer) {
        self.next = start.assumingMemoryBound(to: UInt8.self)
    }

    /// The most that a field can take: three integers, a name and a value.
    static func most(_ field: HeaderField) -> Int { 18 + field.nameSize + field.valueSize }

    mutating func integer(_ value: Int, bits: Int, first: UInt8) {
        let limit = 1 << bits - 1
        guard value >= limit else { return self.put(first | UInt8(truncatingIfNeeded: value)) }
        self.put(first | UInt8(truncatingIfNeeded: limit))
        var rest = value - limit
        while rest >= 128 {
            self.put(UInt8(truncatingIfNeeded: rest & 127 | 128))
            rest >>= 7
        }
        self.put(UInt8(truncatingIfNeeded: rest))
    }

    mutating func text(_ bytes: UnsafePointer<UInt8>, _ size: Int) {
        self.integer(size, bits: 7, first: 0)
        self.next.update(from: bytes, count: size)
        self.next += size
    }

    private mutating func put(_ byte: UInt8) {
        self.next.pointee = byte
        self.next += 1
    }
}
