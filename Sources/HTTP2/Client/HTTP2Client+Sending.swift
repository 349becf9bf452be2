internal import Wire

/// A request that came while the transport was full.
struct HeldRequest {
    let id: Int32
    let headers: HeaderBlock
}

// MARK: - What leaves

extension HTTP2Client {
    /// Serializes a request, or holds it while the transport is full: of what is held, everybody knows that no byte
    /// has left.
    func send(_ stream: ClientStream.Pointer, _ headers: HeaderBlock) {
        guard let transport = self.transport else { return }
        guard self.held.isEmpty, transport.unsentBytes < self.settings.transport.highWater else {
            self.held.append(HeldRequest(id: stream.pointee.id, headers: headers.copy()))
            return transport.setNeedsFlush()
        }
        self.depart(stream, headers, transport)
    }

    func sendHeld(_ transport: Transport) {
        var count = 0
        while count < self.held.count, transport.unsentBytes < self.settings.transport.highWater {
            if let stream = self.table.find(self.held[count].id) {
                self.depart(stream, self.held[count].headers, transport)
            }
            count += 1
        }
        if count > 0 { self.held.removeFirst(count) }
    }

    private func depart(_ stream: ClientStream.Pointer, _ headers: HeaderBlock, _ transport: Transport) {
        let id = stream.pointee.id
        self.departures.append(id, at: transport.bytesWritten)
        self.lastHandedOver = id
        self.output.cut(to: 0)
        _ = self.output.extend(by: RawFrame.headerSize)
        self.encoder.append(self.front.fields, headers.all, to: &self.output)
        let size = self.output.count - RawFrame.headerSize
        let body = stream.pointee.body.range.count
        if size > FrameReader.mostPayload {
            self.writeLongHeaders(id, endsStream: body == 0, transport)
        } else {
            let flags = body == 0 ? RawFrame.endHeaders | RawFrame.endStream : RawFrame.endHeaders
            self.output.setFrame(at: 0, size, RawFrame.headers, flags: flags, id)
            // Nearly always the body fits, and leaves with its headers.
            guard body > 0, body <= self.allowance(stream), body <= FrameReader.mostPayload else {
                transport.write(self.output.bytes)
                if body > 0, !self.sendBody(stream, transport) { self.blocked.append(id) }
                return
            }
            self.writeData(stream, body, transport)
        }
    }

    /// A block that no single frame takes (RFC 9113 §4.3).
    private func writeLongHeaders(_ id: Int32, endsStream: Bool, _ transport: Transport) {
        var rest = Array(self.output.bytes.dropFirst(RawFrame.headerSize))[...]
        var type = RawFrame.headers
        while !rest.isEmpty {
            let part = Array(rest.prefix(FrameReader.mostPayload))
            rest = rest.dropFirst(part.count)
            let end = rest.isEmpty ? RawFrame.endHeaders : 0
            let flags = type == RawFrame.headers && endsStream ? end | RawFrame.endStream : end
            transport.write(RawFrame.make(type: type, flags: flags, stream: id, payload: part))
            type = RawFrame.continuation
        }
        if !endsStream { self.blocked.append(id) }
    }

    // MARK: Bodies

    /// How much of its body a stream may send now.
    private func allowance(_ stream: ClientStream.Pointer) -> Int { min(self.window, stream.pointee.window) }

    /// Sends of the bodies that wait what windows and transport let through.
    func sendBlocked() {
        guard !self.blocked.isEmpty, self.window > 0, let transport = self.transport, self.phase != .closed else {
            return
        }
        let waiting = self.blocked
        self.blocked = []
        for (position, id) in waiting.enumerated() {
            guard self.window > 0, transport.unsentBytes < self.settings.transport.highWater else {
                self.blocked += waiting[position...]
                break
            }
            if let stream = self.table.find(id), !self.sendBody(stream, transport) { self.blocked.append(id) }
        }
    }

    /// - Returns: whether all of the body is on its way.
    private func sendBody(_ stream: ClientStream.Pointer, _ transport: Transport) -> Bool {
        while !stream.pointee.body.range.isEmpty {
            let most = min(self.allowance(stream), FrameReader.mostPayload)
            guard most > 0, transport.unsentBytes < self.settings.transport.highWater else { return false }
            self.output.cut(to: 0)
            self.writeData(stream, min(most, stream.pointee.body.range.count), transport)
        }
        return true
    }

    /// Writes what lies in `output`, and behind it a DATA frame with the next part of a body.
    private func writeData(_ stream: ClientStream.Pointer, _ size: Int, _ transport: Transport) {
        let start = self.output.count
        _ = self.output.extend(by: RawFrame.headerSize)
        let isLast = size == stream.pointee.body.range.count
        self.output.setFrame(at: start, size, RawFrame.data, flags: isLast ? RawFrame.endStream : 0, stream.pointee.id)
        transport.write(self.output.bytes)
        stream.pointee.body.takeFirst(size) { transport.write($0) }
        self.window -= size
        stream.pointee.window -= size
        // The peer lets us send; see `FloodGate`.
        self.gate.earn(2)
    }

    /// Sends RST_STREAM.
    func reset(_ id: Int32, _ code: UInt32) {
        self.transport?.write(RawFrame.make(type: RawFrame.reset, stream: id, payload: RawFrame.bytes(code)))
    }
}

extension FlatBuffer {
    /// Writes a frame's header (RFC 9113 §4.1) where room was made for it.
    mutating func setFrame(at offset: Int, _ size: Int, _ type: UInt8, flags: UInt8, _ stream: Int32) {
        self.store(UInt32(truncatingIfNeeded: size << 8 | Int(type)).bigEndian, at: offset)
        self.store(flags, at: offset + 4)
        self.store(stream.bigEndian, at: offset + 5)
    }
}
