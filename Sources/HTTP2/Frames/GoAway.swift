/// A GOAWAY frame (RFC 9113 §6.8).
package struct GoAway: Equatable, Sendable {
    /// Streams above it were not and will not be processed. The lowest that the peer has named so far: a later GOAWAY
    /// cannot take an earlier one back.
    package let lastStreamID: Int32
    package let errorCode: UInt32
    /// The first KiB. Apple puts the reason here, as JSON or as plain text.
    package let debugData: [UInt8]

    package init(lastStreamID: Int32, errorCode: UInt32, debugData: [UInt8]) {
        self.lastStreamID = lastStreamID
        self.errorCode = errorCode
        self.debugData = debugData
    }
}
