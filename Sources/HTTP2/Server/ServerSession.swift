internal import CNghttp2

/// Makes nghttp2 sessions whose callbacks end in an `HTTP2Server`.
enum ServerSession {
    /// - Parameter owner: not retained; it frees the session before it goes.
    static func make(owner: HTTP2Server, settings: HTTP2Server.Settings) -> OpaquePointer {
        var option: OpaquePointer?
        nghttp2_option_new(&option)
        defer { nghttp2_option_del(option) }
        nghttp2_option_set_no_closed_streams(option, 1)
        // The owner answers, or does not.
        nghttp2_option_set_no_auto_ping_ack(option, 1)
        nghttp2_option_set_no_auto_window_update(option, settings.updatesWindows ? 0 : 1)
        // A client that gives up on all its requests at once is not an attack.
        nghttp2_option_set_stream_reset_rate_limit(option, 10_000, 1000)
        var session: OpaquePointer?
        let context = Unmanaged.passUnretained(owner).toOpaque()
        let status = nghttp2_session_server_new2(&session, self.callbacks, context, option)
        guard status == 0, let session else { preconditionFailure("out of memory") }
        guard settings.sendsSettings else { return session }
        let values = [
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, settings.headerTableSize),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.initialWindow),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, settings.maxHeaderListSize),
        ]
        let entries = values.map { name, value in
            nghttp2_settings_entry(settings_id: Int32(name.rawValue), value: UInt32(clamping: value))
        }
        let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        nghttp2_submit_settings(session, none, entries, entries.count)
        nghttp2_session_set_local_window_size(session, none, 0, Int32(clamping: settings.connectionWindow))
        return session
    }

    /// `nonisolated(unsafe)`: never changed after it was made; nghttp2 copies from it.
    nonisolated(unsafe) private static let callbacks: OpaquePointer = {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else {
            preconditionFailure("out of memory")
        }
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, _, owner in
            server(owner).frameBegins()
        }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, owner in
            if frame!.pointee.headers.cat == NGHTTP2_HCAT_REQUEST {
                server(owner).streamBegins(frame!.pointee.hd.stream_id)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameSize, value, size, _, owner in
            server(owner).headerArrived(frame!.pointee.hd.stream_id, name!, nameSize, value, size)
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, size, owner in
            server(owner).dataArrived(stream, bytes, size)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            server(owner).frameArrived(frame!)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            server(owner).streamClosed(stream, code)
            return 0
        }
        nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, size, owner in
            server(owner).broke(.init(text, size))
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, _, code, owner in
            server(owner).broke(.init(Nghttp2Error.text(code)))
            return 0
        }
        return callbacks
    }()

    /// Where nghttp2 gets the body of `stream`, which stays where it is until the stream is closed.
    static func body(of stream: ServerStream.Pointer) -> nghttp2_data_provider {
        nghttp2_data_provider(source: nghttp2_data_source(ptr: stream), read_callback: self.readBody)
    }

    /// Copies the next part of an answer's body.
    private static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, size, flags, source, owner in
        let stream = source!.pointee.ptr!.assumingMemoryBound(to: ServerStream.self)
        let count = stream.pointee.body.moveFirst(size, to: buffer!)
        if stream.pointee.body.range.isEmpty {
            flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            if !stream.pointee.endsStream { flags!.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue }
        }
        server(owner).bodyDeparts()
        return count
    }

    private static func server(_ owner: UnsafeMutableRawPointer?) -> HTTP2Server {
        Unmanaged<HTTP2Server>.fromOpaque(owner!).takeUnretainedValue()
    }

    /// A block's fields behind `:status`, as nghttp2 takes them.
    /// - Parameter status: three digits.
    static func withFields(
        status: UnsafePointer<UInt8>,
        _ headers: HeaderBlock,
        _ body: (UnsafePointer<nghttp2_nv>, Int) -> Void
    ) {
        let count = headers.count + 1
        let name: StaticString = ":status"
        withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: count) { fields in
            // nghttp2 does not write through these.
            fields.initializeElement(
                at: 0,
                to: nghttp2_nv(
                    name: UnsafeMutablePointer(mutating: name.utf8Start),
                    value: UnsafeMutablePointer(mutating: status),
                    namelen: name.utf8CodeUnitCount,
                    valuelen: 3,
                    flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
                )
            )
            for (position, field) in headers.all.enumerated() {
                var flags = NGHTTP2_NV_FLAG_NONE.rawValue
                if !field.ownsName { flags |= NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue }
                if field.indexing != .full { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
                fields.initializeElement(
                    at: position + 1,
                    to: nghttp2_nv(
                        name: UnsafeMutablePointer(mutating: field.name),
                        value: UnsafeMutablePointer(mutating: field.value),
                        namelen: field.nameSize,
                        valuelen: field.valueSize,
                        flags: UInt8(flags)
                    )
                )
            }
            body(fields.baseAddress!, count)
        }
    }
}
