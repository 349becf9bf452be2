internal import Push

/// One request of a client connection, from `submit` until its stream is closed.
struct ClientStream: StreamRecord {
    typealias Pointer = UnsafeMutablePointer<ClientStream>

    var id: Int32 = 0
    var context: UInt64 = 0
    /// Has no outcome yet, and so stands in the list of those that wait.
    var isPending = false
    var wasReset = false
    /// The peer has sent END_STREAM.
    var isEnded = false
    /// The final response's header fields are arriving, not an informational one's and not trailers.
    var takesHeaders = false
    var status: Int32 = 0
    var headerListSize = 0

    var startedAt = MonotonicTime(nanoseconds: 0)
    var older: Pointer?
    var newer: Pointer?

    /// What of the request's body is still to be sent.
    var body = Body([])

    /// Kept headers, then the response's body.
    var received = FlatBuffer()
    var keptEnd = 0

    mutating func begin(context: UInt64, body: Body, at now: MonotonicTime) {
        self.context = context
        self.isPending = true
        self.wasReset = false
        self.isEnded = false
        self.takesHeaders = false
        self.status = 0
        self.headerListSize = 0
        self.startedAt = now
        self.body = body
        self.keptEnd = 0
    }

    /// A `:status` arrived: whatever came before belonged to an informational response.
    mutating func beginResponse(status: Int32) {
        self.status = status
        self.takesHeaders = status >= 200
        self.received.removeAll(keeping: 1024)
        self.keptEnd = 0
    }

    mutating func keep(_ position: Int, _ value: UnsafePointer<UInt8>?, _ size: Int) {
        self.received.append(UInt8(position))
        self.received.append(UInt16(size))
        self.received.append(value, size)
        self.keptEnd = self.received.count
    }

    func response(at now: MonotonicTime) -> HTTP2Response {
        let bytes = self.received.bytes
        return HTTP2Response(
            status: Int(self.status),
            body: UnsafeRawBufferPointer(rebasing: bytes[self.keptEnd...]),
            elapsed: now - self.startedAt,
            kept: UnsafeRawBufferPointer(rebasing: bytes[..<self.keptEnd])
        )
    }

    mutating func clear() {
        self.body = Body([])
        self.received.removeAll(keeping: 1024)
    }

    mutating func freeMemory() {
        self.received.free()
    }
}
