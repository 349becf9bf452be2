/// Frames as bytes (RFC 9113 §4.1): all of the client's, and what a server says past nghttp2, between two of its own.
enum RawFrame {
    static let headerSize = 9
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let priority: UInt8 = 2
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let pushPromise: UInt8 = 5
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9

    // Flags of RFC 9113 §6; the first is ACK on SETTINGS and PING.
    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let hasPriority: UInt8 = 0x20

    /// What a client says first (RFC 9113 §3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let settingsAcknowledgement = Self.make(type: Self.settings, flags: Self.acknowledgement, payload: [])

    struct Header {
        let type: UInt8
        let flags: UInt8
        let stream: Int32
        /// DATA or HEADERS with END_STREAM.
        let endsStream: Bool

        /// - Parameter frame: at least `headerSize` bytes.
        init(_ frame: UnsafeRawBufferPointer) {
            self.type = frame[3]
            self.flags = frame[4]
            self.endsStream = frame[3] <= 1 && frame[4] & RawFrame.endStream != 0
            self.stream = Int32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: Int32.self)) & .max
        }
    }

    static func make(type: UInt8, flags: UInt8 = 0, stream: Int32 = 0, payload: [UInt8]) -> [UInt8] {
        var frame = Self.bytes(UInt32(payload.count) << 8 | UInt32(type))
        frame.append(flags)
        frame += Self.bytes(UInt32(bitPattern: stream))
        return frame + payload
    }

    static func goAway(lastStreamID: Int32, errorCode: UInt32, debugData: [UInt8]) -> [UInt8] {
        let payload = Self.bytes(UInt32(bitPattern: lastStreamID)) + Self.bytes(errorCode) + debugData
        return self.make(type: self.goAway, payload: payload)
    }

    /// The error code of a GOAWAY that blames the peer; nil for anything else.
    static func goodbye(in frame: UnsafeRawBufferPointer) -> UInt32? {
        guard frame[3] == Self.goAway, frame.count >= Self.headerSize + 8 else { return nil }
        let code = UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: Self.headerSize + 4, as: UInt32.self))
        return code == 0 ? nil : code
    }

    /// Tells a peer that broke a rule what it did; nghttp2 does so itself unless it gave up.
    static func goAway(lastStreamID: Int32, _ violation: Violation) -> [UInt8] {
        self.goAway(lastStreamID: lastStreamID, errorCode: violation.code, debugData: Array(violation.rule.utf8))
    }

    /// SETTINGS with the given entries and MAX_CONCURRENT_STREAMS.
    static func settings(_ entries: some Sequence<UInt8>, maxConcurrentStreams limit: UInt32) -> [UInt8] {
        self.make(type: self.settings, payload: entries + [0, 3] + Self.bytes(limit))
    }

    static func settings(_ entries: [(name: PeerSettings.Name, value: UInt32)]) -> [UInt8] {
        self.make(
            type: self.settings,
            payload: entries.flatMap { [0, UInt8($0.name.rawValue)] + self.bytes($0.value) }
        )
    }

    static func windowUpdate(stream: Int32, by bytes: UInt32) -> [UInt8] {
        self.make(type: self.windowUpdate, stream: stream, payload: self.bytes(bytes))
    }

    static func bytes(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xff), UInt8(value >> 8 & 0xff), UInt8(value & 0xff)]
    }
}
