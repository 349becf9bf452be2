internal import Push

/// One request of a client connection, from `submit` until its stream is closed.
struct ClientStream: StreamRecord {
    typealias Pointer = UnsafeMutablePointer<ClientStream>

    var id: Int32 = 0
    var context: UInt64 = 0
    /// Has no outcome yet, and so stands in the list of those that wait.
    var isPending = false

    var startedAt = MonotonicTime(nanoseconds: 0)
    var older: Pointer?
    var newer: Pointer?

    /// What of the request's body is still to be sent.
    var body = Body([])
    /// How much of it the peer lets in; less than 0 after a SETTINGS that took some back (RFC 9113 §6.9.2).
    var window = 0

    var head = ResponseHead()
    /// Kept headers, then the response's body.
    var received = FlatBuffer()
    var keptEnd = 0

    mutating func begin(_ id: Int32, context: UInt64, body: Body, window: Int, at now: MonotonicTime) {
        self.id = id
        self.context = context
        self.isPending = true
        self.startedAt = now
        self.body = body
        self.window = window
        self.head = ResponseHead()
        self.keptEnd = 0
    }

    mutating func keep(_ position: Int, _ value: UnsafeRawBufferPointer) {
        self.received.append(UInt8(position))
        self.received.append(UInt16(value.count))
        self.received.append(value.baseAddress, value.count)
        self.keptEnd = self.received.count
    }

    /// What was kept belonged to an informational response.
    mutating func forget() {
        self.received.removeAll(keeping: 1024)
        self.keptEnd = 0
    }

    func response(at now: MonotonicTime) -> HTTP2Response {
        let bytes = self.received.bytes
        return HTTP2Response(
            status: self.head.status,
            body: UnsafeRawBufferPointer(rebasing: bytes[self.keptEnd...]),
            elapsed: now - self.startedAt,
            kept: UnsafeRawBufferPointer(rebasing: bytes[..<self.keptEnd])
        )
    }

    mutating func clear() {
        self.body = .none
        self.received.removeAll(keeping: 1024)
    }

    mutating func freeMemory() {
        self.received.free()
    }
}
