/// What a server's SETTINGS have said so far (RFC 9113 §6.5.2), as far as it concerns a client.
struct PeerSettings {
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
            switch name {
            case 1:
                self.tableSizes.append(Int(value))
            case 2:
                guard value == 0 else { throw Violation("a server that wants to be pushed to", code: 1) }
            case 3:
                self.maxConcurrentStreams = value
            case 4:
                guard value <= Self.mostWindow else {
                    throw Violation("an initial window of \(value)", code: HTTP2ErrorCode.flowControlError)
                }
                self.initialWindow = Int(value)
            case 5:
                // We never send more than everybody takes.
                guard value >= 16_384, value < 1 << 24 else { throw Violation("a frame size of \(value)", code: 1) }
            default:
                break
            }
        }
    }
}
