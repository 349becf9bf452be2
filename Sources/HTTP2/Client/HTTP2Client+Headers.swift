internal import Push

/// A header block that is not complete: CONTINUATION follows.
struct OpenBlock {
    /// Fragments more than so many come from nobody who answers pushes.
    static let mostFragments = 8

    let stream: Int32
    let endsStream: Bool
    var fragments = 1
}

// MARK: - Responses

extension HTTP2Client {
    func takeHeaders(_ frame: FrameReader.Frame) throws(Violation) {
        var content = try frame.content("HEADERS")
        // Five bytes of a priority that nobody heeds any more (RFC 9113 §5.3.2).
        if frame.has(32) {
            guard content.count >= 5 else { throw .init("HEADERS without the priority", code: 6) }
            content = UnsafeRawBufferPointer(rebasing: content[5...])
        }
        let stream = try self.stream(of: frame, "HEADERS", afterEnd: false)
        stream?.pointee.head.beginBlock(endsStream: frame.has(1))
        try self.takeFragment(
            content,
            OpenBlock(stream: frame.stream, endsStream: frame.has(1)),
            isLast: frame.has(4)
        )
    }

    func takeContinuation(_ frame: FrameReader.Frame) throws(Violation) {
        guard var block = self.openBlock, block.stream == frame.stream else {
            throw Violation("CONTINUATION alone", code: HTTP2ErrorCode.protocolError)
        }
        block.fragments += 1
        guard block.fragments <= OpenBlock.mostFragments else { throw Violation("too many CONTINUATION frames") }
        try self.takeFragment(frame.payload, block, isLast: frame.has(4))
    }

    /// - Note: what came for a stream that is over is decoded all the same, for the table's sake.
    private func takeFragment(_ fragment: UnsafeRawBufferPointer, _ block: OpenBlock, isLast: Bool) throws(Violation) {
        let stream = self.table.find(block.stream)
        var isTooLarge = false
        let isSound = self.decoder.decode(fragment, isLast: isLast) { name, value in
            guard let stream, !isTooLarge else { return }
            isTooLarge = stream.pointee.head.take(name, value) > self.settings.maxHeaderListSize
            self.keep(name, value, stream)
        }
        guard isSound else { throw Violation("a broken header block", code: HTTP2ErrorCode.compressionError) }
        self.openBlock = isLast ? nil : block
        guard let stream else { return }
        if isTooLarge { return self.malformed(stream, endedByPeer: block.endsStream && isLast) }
        guard isLast else { return }
        guard stream.pointee.head.endBlock(endsStream: block.endsStream) else {
            return self.malformed(stream, endedByPeer: block.endsStream)
        }
        if block.endsStream {
            self.answered(stream)
        } else if !stream.pointee.head.takesBody {
            stream.pointee.forget()
        }
    }

    private func keep(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ stream: ClientStream.Pointer) {
        guard stream.pointee.head.isFinal else { return }
        for position in 0..<self.keptNames.count where self.keptNames[position].elementsEqual(name) {
            stream.pointee.keep(position, value)
        }
    }
}
