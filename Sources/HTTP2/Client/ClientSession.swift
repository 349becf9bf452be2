internal import CNghttp2

/// Makes nghttp2 sessions whose callbacks end in an `HTTP2Client`.
enum ClientSession {
    /// - Parameter owner: not retained; it frees the session before it goes.
    static func make(owner: HTTP2Client, maxHeaderListSize: Int, memory: SessionMemory?) -> OpaquePointer {
        var option: OpaquePointer?
        nghttp2_option_new(&option)
        defer { nghttp2_option_del(option) }
        nghttp2_option_set_no_closed_streams(option, 1)
        nghttp2_option_set_max_outbound_ack(option, 256)
        nghttp2_option_set_max_settings(option, 32)
        nghttp2_option_set_max_continuations(option, 8)
        var session: OpaquePointer?
        let context = Unmanaged.passUnretained(owner).toOpaque()
        var allocator = memory?.allocator ?? nghttp2_mem()
        let status =
            memory == nil
            ? nghttp2_session_client_new2(&session, self.callbacks, context, option)
            : nghttp2_session_client_new3(&session, self.callbacks, context, option, &allocator)
        guard status == 0, let session else { preconditionFailure("out of memory") }
        let settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(maxHeaderListSize)
            ),
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        // Responses are tiny; the window must only never be what they wait for.
        nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 1 << 20)
        return session
    }

    /// `nonisolated(unsafe)`: never changed after it was made; nghttp2 copies from it.
    nonisolated(unsafe) private static let callbacks: OpaquePointer = {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else {
            preconditionFailure("out of memory")
        }
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, owner in
            client(owner).frameBegins(header!.pointee.type, header!.pointee.stream_id)
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameSize, value, size, _, owner in
            client(owner).headerArrived(frame!.pointee.hd.stream_id, name!, nameSize, value, size)
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, size, owner in
            client(owner).dataArrived(stream, bytes, size)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            client(owner).frameArrived(frame!)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            client(owner).streamClosed(stream, code)
            return 0
        }
        nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) { _, frame, owner in
            let header = frame!.pointee.hd
            if header.type == UInt8(NGHTTP2_HEADERS.rawValue) { client(owner).headersDepart(header.stream_id) }
            return 0
        }
        nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, size, owner in
            client(owner).broke(.init(text, size))
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, _, code, owner in
            client(owner).broke(.init(Nghttp2Error.text(code)))
            return 0
        }
        return callbacks
    }()

    /// Where nghttp2 gets the body of `stream`, which stays where it is until the stream is closed.
    static func body(of stream: ClientStream.Pointer) -> nghttp2_data_provider {
        nghttp2_data_provider(source: nghttp2_data_source(ptr: stream), read_callback: self.readBody)
    }

    /// Copies the next part of a request's body.
    private static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, size, flags, source, owner in
        let stream = source!.pointee.ptr!.assumingMemoryBound(to: ClientStream.self)
        let count = stream.pointee.body.moveFirst(size, to: buffer!)
        if stream.pointee.body.range.isEmpty { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        client(owner).bodyDeparts()
        return count
    }

    private static func client(_ owner: UnsafeMutableRawPointer?) -> HTTP2Client {
        Unmanaged<HTTP2Client>.fromOpaque(owner!).takeUnretainedValue()
    }
}
