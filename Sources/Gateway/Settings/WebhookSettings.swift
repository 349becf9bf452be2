/// How messages go to subscribers of protocol `http` and `https`.
package struct WebhookSettings: Sendable {
    /// To whom they may be posted; default the public internet.
    package var rules = WebhookRules.standard
    /// How long a subscriber may take for one message; default 15 s, as Amazon's.
    package var timeout: Duration = .seconds(15)
    /// Requests to one host that are under way at a time; default 8.
    package var requestsPerHost = 8
    /// PEM file of authorities to trust beside the system's.
    package var caFile: String?
    /// What signs messages; nil for a key that gateways make and share in Redis.
    package var signing: SigningPair?
    /// Where clients and subscribers reach the gateways, such as `https://sns.example.com`; nil for host and port.
    package var url: String?

    package init() {}

    /// An RSA key and its certificate, both in PEM. A secret.
    package struct SigningPair: Sendable {
        package var certificate: String
        package var privateKey: String

        package init(certificate: String, privateKey: String) {
            self.certificate = certificate
            self.privateKey = privateKey
        }

        /// The half of a sentence about what makes it useless; nil if it is good.
        package var problem: String? { SigningKey.problem(self) }
    }
}
