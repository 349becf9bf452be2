/// A host and a port to connect to.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// A DNS name or a literal IPv4 or IPv6 address, without brackets.
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    package var description: String {
        self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }
}
