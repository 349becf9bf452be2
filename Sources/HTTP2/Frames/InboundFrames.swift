/// Walks along the frames that arrive, one step ahead of nghttp2, and mends two GOAWAYs that servers in the field send
/// and nghttp2 takes for a broken rule: one in place of the first SETTINGS, and one that names a higher last stream
/// than an earlier one. It also points out each DATA frame, for nghttp2 drops one that comes after the end of its
/// stream without a word.
///
/// Knows nothing of the frames but their headers (RFC 9113 §4.1). Bytes are passed on where they lie; only those of the
/// first frame's header and of a GOAWAY's last stream are held until all of them are there.
struct InboundFrames {
    enum Piece: Equatable {
        /// These of the bytes that arrived, as they are.
        case received(Range<Int>)
        /// Bytes that were held back, mended if need be.
        case held([UInt8])
        /// No bytes; a DATA frame for this stream comes next.
        case data(Int32)
    }

    /// The first frame was GOAWAY; an empty SETTINGS, which the peer never sent, went before it.
    private(set) var beganWithGoAway = false

    private var isFirst = true
    /// Bytes of the present frame's payload that are still to come.
    private var payloadLeft = 0
    private var isAtLastStream = false
    private var isDataAnnounced = false
    /// A frame's header, or a GOAWAY's last stream, of which only a part has come.
    private var gathered: [UInt8] = []
    private var lowestLastStream = UInt32(Int32.max)

    /// The next piece for nghttp2; nil when there is none before more bytes arrive.
    /// - Parameter index: where to go on within `bytes`; 0 for bytes that just arrived.
    mutating func next(in bytes: UnsafeRawBufferPointer, from index: inout Int) -> Piece? {
        let start = index
        while index < bytes.count {
            if self.isAtLastStream {
                guard let lastStream = self.gather(4, bytes, &index) else { return nil }
                return .held(self.mend(lastStream))
            } else if self.isFirst {
                guard let header = self.gather(RawFrame.headerSize, bytes, &index) else { return nil }
                header.withUnsafeBytes { self.begin($0) }
                self.isFirst = false
                self.beganWithGoAway = header[3] == RawFrame.goAway
                return .held(
                    self.beganWithGoAway ? RawFrame.make(type: RawFrame.settings, payload: []) + header : header
                )
            } else if self.payloadLeft > 0 {
                let count = min(self.payloadLeft, bytes.count - index)
                self.payloadLeft -= count
                index += count
            } else {
                let before = index
                let known = self.gathered.count
                if known == 0, bytes.count - index >= RawFrame.headerSize {
                    index += RawFrame.headerSize
                    let header = UnsafeRawBufferPointer(rebasing: bytes[before..<index])
                    if let piece = self.announce(header, start, before, &index) { return piece }
                    self.begin(header)
                } else if let header = self.gather(RawFrame.headerSize, bytes, &index) {
                    if let piece = header.withUnsafeBytes({ self.announce($0, start, before, &index) }) {
                        self.gathered = Array(header.prefix(known))
                        return piece
                    }
                    header.withUnsafeBytes { self.begin($0) }
                }
                if self.isAtLastStream { return .received(start..<index) }
            }
        }
        return start < index ? .received(start..<index) : nil
    }

    private mutating func gather(_ size: Int, _ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> [UInt8]? {
        let count = min(size - self.gathered.count, bytes.count - index)
        self.gathered += bytes[index..<index + count]
        index += count
        guard self.gathered.count == size else { return nil }
        defer { self.gathered = [] }
        return self.gathered
    }

    /// Before a DATA frame: what came before it, then its stream, each time stepping back to the frame's header.
    private mutating func announce(
        _ header: UnsafeRawBufferPointer,
        _ start: Int,
        _ before: Int,
        _ index: inout Int
    ) -> Piece? {
        guard header[3] == RawFrame.data, !self.isDataAnnounced else {
            self.isDataAnnounced = false
            return nil
        }
        index = before
        guard start == before else { return .received(start..<before) }
        self.isDataAnnounced = true
        return .data(RawFrame.Header(header).stream)
    }

    private mutating func begin(_ header: UnsafeRawBufferPointer) {
        self.payloadLeft = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        self.isAtLastStream = header[3] == RawFrame.goAway && self.payloadLeft >= 4
        if self.isAtLastStream { self.payloadLeft -= 4 }
    }

    /// nghttp2 also minds an even number, which no stream of ours has; the odd one below it says the same.
    private mutating func mend(_ lastStream: [UInt8]) -> [UInt8] {
        let named = lastStream.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & UInt32(Int32.max)
        self.lowestLastStream = min(self.lowestLastStream, named > 0 && named.isMultiple(of: 2) ? named - 1 : named)
        self.isAtLastStream = false
        return withUnsafeBytes(of: self.lowestLastStream.bigEndian) { Array($0) }
    }
}
