/// What the requests on a connection prove themselves with; shared by all connections that were made with one credential.
///
/// Apple binds a connection to the key of its first request, so another key needs other connections: those that are
/// there keep their own value until they are drained. A newer token of the same key is for all of them.
package final class Authorization {
    /// The header's value; empty with a certificate, which the TLS handshake has shown already.
    private(set) var value: [UInt8] = []

    package init() {}

    /// Sends with this provider token from now on.
    package func use(_ token: ProviderToken) {
        self.value = Array("bearer \(token.text)".utf8)
    }
}
