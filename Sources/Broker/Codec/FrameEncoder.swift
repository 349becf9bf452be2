internal import CRabbitMQ

/// AMQP methods and messages to bytes, by librabbitmq; see ``FrameDecoder`` for why it is a codec only.
///
/// Frames gather in one buffer until they are taken.
final class FrameEncoder {
    /// Memory for what the methods to be encoded point to; recycled after each.
    let arena = CodecArena()
    /// The largest frame that the broker takes, header and end included.
    var frameMax = 4096
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)
    /// Bytes that wait to be taken.
    private(set) var count = 0

    deinit {
        self.memory.deallocate()
    }

    /// Hands over everything encoded so far and forgets it.
    func take(_ body: (UnsafeRawBufferPointer) -> Void) {
        guard self.count > 0 else { return }
        let count = self.count
        self.count = 0
        body(UnsafeRawBufferPointer(rebasing: self.memory[..<count]))
        // One large message should not hold its memory for ever.
        if self.memory.count > 1 << 20 { self.resize(to: 256 * 1024) }
    }

    func protocolHeader() {
        self.append(Array("AMQP".utf8) + [0, 0, 9, 1])
    }

    func heartbeat() {
        self.append([UInt8(AMQP_FRAME_HEARTBEAT), 0, 0, 0, 0, 0, 0, UInt8(AMQP_FRAME_END)])
    }

    /// - Parameter room: how many bytes the encoded method may need.
    func method<Method>(_ id: amqp_method_number_t, channel: UInt16, _ method: Method, room: Int = 2048) {
        self.reserve(room + Self.overhead + 4)
        var method = method
        let start = self.beginFrame(UInt8(AMQP_FRAME_METHOD), channel: channel)
        self.put(id)
        let length = withUnsafeMutablePointer(to: &method) { amqp_encode_method(id, $0, self.space(room)) }
        precondition(length >= 0, "an AMQP method does not fit its frame")
        self.count += Int(length)
        self.endFrame(start)
        self.arena.recycle()
    }

    /// The header frame and the body frames that follow a method with content.
    func content(channel: UInt16, _ properties: amqp_basic_properties_t, room: Int, body: UnsafeRawBufferPointer) {
        self.reserve(room + 2 * Self.overhead + 12 + body.count + Self.overhead * (1 + body.count / self.chunk))
        var properties = properties
        let start = self.beginFrame(UInt8(AMQP_FRAME_HEADER), channel: channel)
        self.put(UInt16(AMQP_BASIC_CLASS))
        self.put(UInt16(0))
        self.put(UInt64(body.count))
        let length = amqp_encode_properties(UInt16(AMQP_BASIC_CLASS), &properties, self.space(room))
        precondition(length >= 0, "AMQP properties do not fit their frame")
        self.count += Int(length)
        self.endFrame(start)
        self.arena.recycle()
        self.body(channel: channel, body)
    }

    func body(channel: UInt16, _ body: UnsafeRawBufferPointer) {
        var rest = body[...]
        while !rest.isEmpty {
            let part = rest.prefix(self.chunk)
            self.reserve(part.count + Self.overhead)
            let start = self.beginFrame(UInt8(AMQP_FRAME_BODY), channel: channel)
            self.put(part)
            self.endFrame(start)
            rest = rest.dropFirst(part.count)
        }
    }

    func append(_ bytes: [UInt8]) {
        self.reserve(bytes.count)
        bytes.withUnsafeBytes { self.put($0[...]) }
    }

    // MARK: Bytes

    private static let overhead = frameHeaderSize + frameEndSize
    private var chunk: Int { self.frameMax - Self.overhead }

    private func beginFrame(_ type: UInt8, channel: UInt16) -> Int {
        let start = self.count
        self.put(type)
        self.put(channel)
        self.put(UInt32(0))
        return start
    }

    private func endFrame(_ start: Int) {
        let size = UInt32(self.count - start - frameHeaderSize)
        self.memory.storeBytes(of: size.bigEndian, toByteOffset: start + 3, as: UInt32.self)
        self.put(UInt8(AMQP_FRAME_END))
    }

    private func put<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        self.memory.storeBytes(of: number.bigEndian, toByteOffset: self.count, as: Number.self)
        self.count += MemoryLayout<Number>.size
    }

    private func put(_ bytes: Slice<UnsafeRawBufferPointer>) {
        UnsafeMutableRawBufferPointer(rebasing: self.memory[self.count...]).copyBytes(from: bytes)
        self.count += bytes.count
    }

    private func space(_ room: Int) -> amqp_bytes_t {
        amqp_bytes_t(len: room, bytes: self.memory.baseAddress! + self.count)
    }

    private func reserve(_ more: Int) {
        guard self.count + more > self.memory.count else { return }
        self.resize(to: max(self.count + more, self.memory.count * 2))
    }

    private func resize(to size: Int) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: self.memory[..<self.count]))
        self.memory.deallocate()
        self.memory = memory
    }
}

/// AMQP 0-9-1 §4.2.3: type, channel and size; and the end octet.
private let frameHeaderSize = 7
private let frameEndSize = 1
