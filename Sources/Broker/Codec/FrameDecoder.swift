internal import CRabbitMQ

/// Bytes to AMQP frames, by librabbitmq.
///
/// librabbitmq is used as a codec only, here and in ``FrameEncoder``: its sockets, blocking connect and login,
/// publishing and heartbeats are never touched. Decoding (`amqp_handle_input`) and encoding (`amqp_encode_method`,
/// `amqp_encode_properties`) do no I/O, so the connection lives on our own loop and nothing in it can block. That
/// avoids the traps of version 0.11 (a publish that waits for ever on a peer that stopped reading, three writes per
/// message, no time limit on acks, frames of other channels lost while waiting on one), gives one write per turn, and
/// uses the same TLS as every other connection, which also matches IP addresses in certificates.
///
/// What remains of 0.11 to know: tables decode by recursion without a limit (`LoopThread` has the stack for one
/// frame's worth), decoded memory lives in pools until released, and after any error the decoder is thrown away.
final class FrameDecoder {
    private let state: amqp_connection_state_t
    private var unreleased = 0

    init() {
        guard let state = amqp_new_connection() else { preconditionFailure("out of memory") }
        self.state = state
    }

    deinit {
        amqp_destroy_connection(self.state)
    }

    /// Refuses larger frames from now on. Only between frames, as within the body of `decode`.
    func limit(frameMax: Int) {
        let status = amqp_tune_connection(self.state, 0, Int32(frameMax), 0)
        precondition(status == AMQP_STATUS_OK.rawValue, "out of memory")
    }

    /// Calls `body` for every frame that is complete; what a frame points to is valid only during the call.
    /// - Parameter body: returns whether to go on.
    /// - Throws: when the bytes are not AMQP; what `body` throws. The decoder is of no use afterwards.
    func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (borrowing amqp_frame_t) throws(BrokerError) -> Bool
    ) throws(BrokerError) {
        // The library's type is not const, but it only reads.
        var rest = amqp_bytes_t(len: bytes.count, bytes: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        var frame = amqp_frame_t()
        while rest.len > 0 {
            let consumed = Int(amqp_handle_input(self.state, rest, &frame))
            guard consumed > 0 else { throw .violation(Self.text(of: Int32(consumed))) }
            rest.bytes += consumed
            rest.len -= consumed
            guard frame.frame_type != 0 else { continue }
            guard try body(frame) else { return }
            // Everything wanted has been copied out. Not after each frame: a release visits every channel.
            self.unreleased += consumed
            if self.unreleased > 64 * 1024 { self.release() }
        }
        self.release()
    }

    /// Does nothing in the middle of a frame; the next call makes up for it.
    private func release() {
        guard amqp_release_buffers_ok(self.state) != 0 else { return }
        amqp_maybe_release_buffers(self.state)
        self.unreleased = 0
    }

    private static func text(of status: Int32) -> String {
        String(cString: amqp_error_string2(status))
    }
}
