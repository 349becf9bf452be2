extension HTTP2Server {
    /// What the connection advertises and allows. The defaults are Apple's where those are known.
    package struct Settings: Sendable {
        /// MAX_CONCURRENT_STREAMS of the first SETTINGS; nil names no limit.
        package var maxConcurrentStreams: Int? = 1000
        /// What happens to streams above the limit that was last announced, acknowledged or not.
        package var overflow = Overflow.refuse
        /// INITIAL_WINDOW_SIZE; 0 lets no body in.
        package var initialWindow = 65_535
        /// The window of the whole connection.
        package var connectionWindow = 65_535
        /// Whether windows are opened again as bodies arrive.
        package var updatesWindows = true
        /// HEADER_TABLE_SIZE.
        package var headerTableSize = 4096
        /// MAX_HEADER_LIST_SIZE; requests above it are reset.
        package var maxHeaderListSize = 8000
        /// Longer bodies are cut off, but counted; see `HTTP2Request.bodySize`.
        package var maxRequestBody = 64 * 1024
        /// Whether SETTINGS is sent at all.
        package var sendsSettings = true
        /// Above this many unsent bytes nothing more is serialised.
        package var highWater = 256 * 1024

        package init() {}
    }

    /// What happens to a stream above the limit.
    package enum Overflow: Sendable {
        /// RST_STREAM with REFUSED_STREAM.
        case refuse
        /// GOAWAY with code 7 and Apple's plain text; the stream and later ones are not processed.
        case goAway
        /// It is served all the same.
        case accept
    }

    /// What the connection has seen.
    package struct Counters: Equatable, Sendable {
        /// Complete requests handed over.
        package var requests = 0
        /// Streams refused for the limit or because of a GOAWAY.
        package var refused = 0
        /// Answers wholly handed to the kernel.
        package var answered = 0
        /// RST_STREAM frames received.
        package var resets = 0
        /// PING frames received that are no acknowledgement.
        package var pings = 0
        /// GOAWAY frames received.
        package var goAways = 0
        /// Most streams that were open together.
        package var peakStreams = 0

        package init() {}
    }
}
