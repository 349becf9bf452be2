internal import CHiredis

/// hiredis' parser: takes bytes as they come and gives whole replies.
///
/// hiredis 0.14 itself refuses replies that nest deeper than 8 arrays and anything that is not RESP2; the limits on
/// size are ours. After an error the reader is of no more use, like the connection.
final class ReplyReader {
    struct Malformed: Error, Equatable {
        let reason: String
    }

    /// More than this waiting for the end of one reply is taken for a peer gone mad.
    static let maximumReplyBytes = 64 << 20
    /// hiredis allocates an array's slots as soon as it knows their number, before any element arrived.
    static let maximumElements = 1 << 20

    private let reader: UnsafeMutablePointer<redisReader>

    init() {
        guard let reader = redisReaderCreateWithFunctions(limitedFunctions) else {
            preconditionFailure("out of memory")
        }
        self.reader = reader
    }

    deinit {
        redisReaderFree(self.reader)
    }

    func feed(_ bytes: UnsafeRawBufferPointer) throws(Malformed) {
        guard self.reader.pointee.len - self.reader.pointee.pos + bytes.count <= Self.maximumReplyBytes else {
            throw Malformed(reason: "a reply is longer than \(Self.maximumReplyBytes >> 20) MiB")
        }
        let status = redisReaderFeed(self.reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        guard status == REDIS_OK else { throw self.malformed() }
    }

    /// The next whole reply, if its last byte has arrived.
    func next() throws(Malformed) -> RedisReply? {
        var object: UnsafeMutableRawPointer?
        guard redisReaderGetReply(self.reader, &object) == REDIS_OK else { throw self.malformed() }
        guard let object else { return nil }
        defer { freeReplyObject(object) }
        return Self.reply(object.assumingMemoryBound(to: redisReply.self))
    }

    private func malformed() -> Malformed {
        let reason = withUnsafeBytes(of: &self.reader.pointee.errstr) { buffer in
            String(decoding: buffer.prefix(while: { $0 != 0 }), as: UTF8.self)
        }
        return Malformed(reason: reason)
    }

    /// Recursion ends at the 8 arrays that hiredis allows.
    private static func reply(_ object: UnsafePointer<redisReply>) -> RedisReply {
        let object = object.pointee
        switch object.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS:
            return .string(Array(UnsafeRawBufferPointer(start: object.str, count: object.len)))
        case REDIS_REPLY_INTEGER:
            return .integer(object.integer)
        case REDIS_REPLY_ARRAY:
            return .array((0..<object.elements).map { self.reply(object.element[$0]!) })
        case REDIS_REPLY_ERROR:
            let bytes = UnsafeRawBufferPointer(start: object.str, count: object.len)
            return .error(RedisError(text: String(decoding: bytes, as: UTF8.self)))
        default:
            return .null
        }
    }
}

/// hiredis' own functions, taken from a reader that was made only for that.
private let defaultFunctions: redisReplyObjectFunctions = {
    guard let reader = redisReaderCreate() else { preconditionFailure("out of memory") }
    defer { redisReaderFree(reader) }
    return reader.pointee.fn.pointee
}()

/// The same, but an array with an absurd number of elements is refused, which ends the connection.
private nonisolated(unsafe) let limitedFunctions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
    let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
    functions.initialize(to: defaultFunctions)
    functions.pointee.createArray = { task, elements in
        guard elements <= ReplyReader.maximumElements else { return nil }
        return defaultFunctions.createArray(task, elements)
    }
    return functions
}()
