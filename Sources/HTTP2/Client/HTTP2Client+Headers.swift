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
        if frame.has(RawFrame.hasPriority) {
            guard content.count >= 5 else {
                throw Violation("HEADERS without the priority", code: HTTP2ErrorCode.frameSizeError)
            }
            content = UnsafeRawBufferPointer(rebasing: content[5...])
        }
        let stream = try self.stream(of: frame, "HEADERS", afterEnd: false)
        let block = OpenBlock(stream: frame.stream, endsStream: frame.has(RawFrame.endStream))
        stream?.pointee.head.beginBlock(endsStream: block.endsStream)
        try self.takeFragment(content, of: block, for: stream, isLast: frame.has(RawFrame.endHeaders))
    }

    func takeContinuation(_ frame: FrameReader.Frame) throws(Violation) {
        guard var block = self.openBlock, block.stream == frame.stream else {
            throw Violation("CONTINUATION alone", code: HTTP2ErrorCode.protocolError)
        }
        block.fragments += 1
        guard block.fragments <= OpenBlock.mostFragments else { throw Violation("too many CONTINUATION frames") }
        let stream = self.table.find(block.stream)
        try self.takeFragment(frame.payload, of: block, for: stream, isLast: frame.has(RawFrame.endHeaders))
    }

    /// - Parameter stream: nil if it is over: what comes for it is decoded all the same, for the table's sake.
    private func takeFragment(
        _ fragment: UnsafeRawBufferPointer,
        of block: OpenBlock,
        for stream: ClientStream.Pointer?,
        isLast: Bool
    ) throws(Violation) {
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
