extension Transport {
    /// Everything about a connection that is a matter of taste or test.
    package struct Settings: Sendable {
        /// Name lookup, TCP connect, the proxy's answer and TLS handshake together; default 10 s.
        package var connectTimeout: Duration = .seconds(10)
        /// How long one address of a name may be silent before the next is tried beside it; default 1 s.
        package var connectStagger: Duration = .seconds(1)
        /// Where names get their addresses from.
        package var names = NameService.system
        /// The HTTP proxy on the way, if there is one.
        package var proxy: Proxy?
        /// How long the peer's kernel may leave sent bytes unacknowledged (TCP_USER_TIMEOUT); default 15 s.
        package var userTimeout: Duration = .seconds(15)
        /// Above this many unsent bytes the delegate is no longer asked for more; default 256 KiB.
        package var highWater = 256 * 1024

        package init() {}
    }
}
