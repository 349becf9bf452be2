package import Push
package import Wire

/// How to reach a broker.
package struct BrokerSettings: Sendable {
    package var address: AMQPAddress
    /// Shown by the broker's tools, so that an operator knows whose connection it is.
    package var connectionName: String
    /// PEM file of the certificate authorities to trust with `amqps`; nil for the system's.
    package var authorities: String?
    /// Socket and buffer settings. `connectTimeout` is also the limit for the AMQP handshake that follows.
    package var transport = Transport.Settings()
    /// Waits between tries to connect, and between tries to consume from a queue that is not there.
    package var backoff = ReconnectBackoff(initial: .milliseconds(200), cap: .seconds(30))

    package init(address: AMQPAddress, connectionName: String, authorities: String? = nil) {
        self.address = address
        self.connectionName = connectionName
        self.authorities = authorities
    }

    /// What `amqps` needs; nil for plain `amqp`.
    /// - Throws: when the authorities' file cannot be used.
    func makeTLS() throws(TLSContextError) -> TLSContext? {
        self.address.usesTLS ? try TLSContext.client(trusting: self.authorities) : nil
    }
}
