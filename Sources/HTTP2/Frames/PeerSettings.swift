/// What a server's SETTINGS have said so far (RFC 9113 §6.5.2), as far as it concerns a client.
struct PeerSettings {
    /// The settings that somebody here heeds (RFC 9113 §6.5.2).
    enum Name: UInt16 {
        case headerTableSize = 1
        case enablePush = 2
        case maxConcurrentStreams = 3
        case initialWindowSize = 4
        case maxFrameSize = 5
        case maxHeaderListSize = 6
    }

    /// More in one frame help nobody.
    static let mostEntries = 32
    /// The highest size that a window may have.
    static let mostWindow = Int(Int32.max)

    /// Nil until it names one: then there is no limit.
    private(set) var maxConcurrentStreams: UInt32?
    private(set) var initialWindow = 65_535
    /// Of each size that the frame names for the table in turn, for the encoder has to know the lowest.
    private(set) var tableSizes: [Int] = []

    /// Takes one frame's entries.
    /// - Throws: the rule that they break; some of them may have been taken.
    mutating func take(_ payload: UnsafeRawBufferPointer) throws(Violation) {
        self.tableSizes = []
        guard payload.count % 6 == 0 else {
            throw Violation("SETTINGS of \(payload.count) bytes", code: HTTP2ErrorCode.frameSizeError)
        }
        guard payload.count / 6 <= Self.mostEntries else {
            throw Violation("\(payload.count / 6) settings in one frame")
        }
        for start in stride(from: 0, to: payload.count, by: 6) {
            let name = UInt16(bigEndian: payload.loadUnaligned(fromByteOffset: start, as: UInt16.self))
            let value = UInt32(bigEndian: payload.loadUnaligned(fromByteOffset: start + 2, as: UInt32.self))
            switch Name(rawValue: name) {
            case .headerTableSize:
                self.tableSizes.append(Int(value))
            case .enablePush:
                guard value == 0 else {
                    throw Violation("a server that wants to be pushed to", code: HTTP2ErrorCode.protocolError)
                }
            case .maxConcurrentStreams:
                self.maxConcurrentStreams = value
            case .initialWindowSize:
                guard value <= Self.mostWindow else {
                    throw Violation("an initial window of \(value)", code: HTTP2ErrorCode.flowControlError)
                }
                self.initialWindow = Int(value)
            case .maxFrameSize:
                // We never send more than everybody takes.
                guard value >= FrameReader.mostPayload, value < 1 << 24 else {
                    throw Violation("a frame size of \(value)", code: HTTP2ErrorCode.protocolError)
                }
            case .maxHeaderListSize, nil:
                break
            }
        }
    }
}
