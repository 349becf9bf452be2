/// Cuts what arrives into frames (RFC 9113 §4.1). A frame that lies there whole is handed out where it lies; one of
/// which only a part has come is gathered. Whoever holds it frees it.
struct FrameReader {
    /// What a peer may send as long as we do not announce more (RFC 9113 §4.2).
    static let mostPayload = 16_384

    struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: Int32
        /// Valid until the next call of `next`.
        let payload: UnsafeRawBufferPointer

        func has(_ flag: UInt8) -> Bool { self.flags & flag != 0 }
    }

    private var gathered = FlatBuffer()
    private var gatheredIsTaken = false
    /// The most bytes that were gathered at one time.
    private(set) var peak = 0

    mutating func free() {
        self.gathered.free()
    }

    /// The next whole frame; nil when there is none before more bytes arrive.
    /// - Parameter index: where to go on within `bytes`; 0 for bytes that just arrived.
    /// - Throws: the rule that a frame's size breaks.
    mutating func next(in bytes: UnsafeRawBufferPointer, from index: inout Int) throws(Violation) -> Frame? {
        if self.gatheredIsTaken {
            self.gatheredIsTaken = false
            self.gathered.removeAll(keeping: 2048)
        }
        guard self.gathered.count > 0 else {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
            guard let size = try Self.size(of: rest), size <= rest.count else {
                self.gather(rest.count, bytes, &index)
                return nil
            }
            index += size
            return Self.frame(UnsafeRawBufferPointer(rebasing: rest[..<size]))
        }
        self.gather(RawFrame.headerSize - self.gathered.count, bytes, &index)
        guard let size = try Self.size(of: self.gathered.bytes) else { return nil }
        self.gather(size - self.gathered.count, bytes, &index)
        guard self.gathered.count == size else { return nil }
        self.gatheredIsTaken = true
        return Self.frame(self.gathered.bytes)
    }

    /// The size of the frame that begins there, header included; nil if its header is not there yet.
    private static func size(of bytes: UnsafeRawBufferPointer) throws(Violation) -> Int? {
        guard bytes.count >= RawFrame.headerSize else { return nil }
        let size = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        guard size <= Self.mostPayload else {
            throw Violation("a frame of \(size) bytes", code: HTTP2ErrorCode.frameSizeError)
        }
        return RawFrame.headerSize + size
    }

    private static func frame(_ bytes: UnsafeRawBufferPointer) -> Frame {
        let header = RawFrame.Header(bytes)
        return Frame(
            type: header.type,
            flags: header.flags,
            stream: header.stream,
            payload: UnsafeRawBufferPointer(rebasing: bytes[RawFrame.headerSize...])
        )
    }

    private mutating func gather(_ size: Int, _ bytes: UnsafeRawBufferPointer, _ index: inout Int) {
        let count = min(size, bytes.count - index)
        guard count > 0 else { return }
        self.gathered.append(bytes.baseAddress! + index, count)
        index += count
        self.peak = max(self.peak, self.gathered.count)
    }
}
