/// One request that a server connection receives and answers.
struct ServerStream: StreamRecord {
    typealias Pointer = UnsafeMutablePointer<ServerStream>

    /// 0 when the record is free.
    var id: Int32 = 0
    /// The request was handed to the delegate, which therefore hears of the stream's end.
    var isDelivered = false
    /// Nobody will look at it: it came above the limit or after a GOAWAY.
    var isIgnored = false
    var headersEnded = false
    var headerListSize = 0
    var method = 0
    var path = 0

    /// Header text, then the body.
    var received = FlatBuffer()
    var fields = FlatBuffer()
    var bodyStart = 0
    var bodySize = 0

    /// What of the answer's body is still to be sent.
    var body = Body([])
    var endsStream = true

    mutating func begin(_ id: Int32) {
        self.id = id
        self.isDelivered = false
        self.isIgnored = false
        self.headersEnded = false
        self.headerListSize = 0
        self.method = -1
        self.path = -1
        self.bodyStart = 0
        self.bodySize = 0
    }

    mutating func append(
        _ name: UnsafePointer<UInt8>,
        _ nameSize: Int,
        _ value: UnsafePointer<UInt8>?,
        _ valueSize: Int
    ) {
        if name[0] == UInt8(ascii: ":"), nameSize >= 5 {
            // Of the pseudo-headers only `:method` and `:path` begin so.
            if name[1] == UInt8(ascii: "m") { self.method = self.fieldCount }
            if name[1] == UInt8(ascii: "p"), name[2] == UInt8(ascii: "a") { self.path = self.fieldCount }
        }
        self.fields.append(
            HTTP2Request.Field(
                start: UInt32(self.received.count),
                nameSize: UInt16(nameSize),
                valueSize: UInt16(valueSize)
            )
        )
        self.received.append(name, nameSize)
        self.received.append(value, valueSize)
    }

    private var fieldCount: Int { self.fields.count / MemoryLayout<HTTP2Request.Field>.stride }

    var request: HTTP2Request {
        HTTP2Request(
            fields: self.fields.bytes.assumingMemoryBound(to: HTTP2Request.Field.self),
            text: self.received.bytes,
            body: UnsafeRawBufferPointer(rebasing: self.received.bytes[self.bodyStart...]),
            bodySize: self.bodySize,
            methodField: self.method,
            pathField: self.path
        )
    }

    mutating func clear() {
        self.id = 0
        self.body = Body([])
        self.received.removeAll(keeping: 2048)
        self.fields.removeAll(keeping: 1024)
    }

    mutating func freeMemory() {
        self.received.free()
        self.fields.free()
    }
}
