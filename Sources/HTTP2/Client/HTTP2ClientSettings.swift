package import Wire

extension HTTP2Client {
    /// Limits and times of a connection.
    package struct Settings: Sendable {
        /// After this long without anything from the peer a PING asks whether it is there; default 45 s. Networks drop
        /// idle connections silently, some after 20 minutes.
        package var pingInterval: Duration = .seconds(45)
        /// How long after a PING something must arrive; default 10 s.
        package var pingTimeout: Duration = .seconds(10)
        /// How long after the transport opened the first SETTINGS may take; default 10 s.
        package var settingsTimeout: Duration = .seconds(10)
        /// How long a request may take, from `submit` to the end of its response; default 20 s. When one takes longer
        /// and nothing at all arrived meanwhile, a PING goes out at once.
        package var requestTimeout: Duration = .seconds(20)
        /// How long open requests may take after `drain` or GOAWAY; default 30 s.
        package var drainTimeout: Duration = .seconds(30)
        /// Names, in lower case, of the response headers to hand over. See `HTTP2Response.header`.
        package var keptHeaders: [String] = []
        /// A longer response body makes the response malformed; default 16 KiB.
        package var maxResponseBody = 16 * 1024
        /// A larger header list (RFC 9113 §10.5.1) makes the response malformed; default 16 KiB.
        package var maxHeaderListSize = 16 * 1024
        /// Whether `HTTP2Client.sessionMemory` counts; for tests.
        package var measuresMemory = false
        package var transport = Transport.Settings()

        package init() {}
    }
}
