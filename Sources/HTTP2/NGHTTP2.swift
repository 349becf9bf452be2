internal import CNghttp2

/// The few things client and server sessions of nghttp2 have in common.
enum NGHTTP2 {
    static func describe(_ code: Int) -> String {
        String(cString: nghttp2_strerror(Int32(truncatingIfNeeded: code)))
    }

    /// Limits against floods: what a peer may make us remember or answer before the connection ends.
    static func options() -> OpaquePointer {
        var option: OpaquePointer?
        guard nghttp2_option_new(&option) == 0, let option else { preconditionFailure("out of memory") }
        nghttp2_option_set_max_outbound_ack(option, 1000)
        nghttp2_option_set_max_settings(option, 32)
        return option
    }

    static func settings(_ values: [(nghttp2_settings_id, UInt32)], on session: OpaquePointer) {
        let entries = values.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    /// Serialises what is due, frame by frame, until `write` says that there is no more room.
    /// - Returns: false when the session is beyond repair.
    static func drain(_ session: OpaquePointer, write: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        while true {
            var data: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &data)
            if count < 0 { return false }
            if count == 0 { return true }
            guard write(UnsafeRawBufferPointer(start: data, count: count)) else { return true }
        }
    }

    /// Copies the next part of a body; for data sources.
    static func take(
        from body: [UInt8],
        _ unsent: inout Range<Int>,
        into buffer: UnsafeMutablePointer<UInt8>?,
        room: Int,
        flags: UnsafeMutablePointer<UInt32>?
    ) -> Int {
        let count = min(room, unsent.count)
        body.withUnsafeBufferPointer { body in
            if count > 0 { buffer?.update(from: body.baseAddress! + unsent.lowerBound, count: count) }
        }
        unsent = unsent.lowerBound + count..<unsent.upperBound
        if unsent.isEmpty { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }
}
