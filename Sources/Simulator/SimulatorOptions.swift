/// What the least time between two new provider tokens is counted for. Apple's page says the connection; operators
/// have seen more.
package enum ProviderTokenScope: String, CaseIterable, Sendable {
    case connection
    case key
    /// The sender's address.
    case source
}

/// How the reason for a key of the other environment is spelled.
package enum EnvironmentKeySpelling: String, CaseIterable, Sendable {
    /// As it was seen.
    case wire = "BadEnvironmentKeyInToken"
    /// As Apple's page has it.
    case page = "BadEnvironmentKeyIdInToken"
}

/// What happens to a stream above the announced limit.
package enum StreamOverflow: String, CaseIterable, Sendable {
    /// RST_STREAM with REFUSED_STREAM.
    case refuse
    /// GOAWAY with code 7 and `Maximum active streams violated for this endpoint.`
    case goAway = "goaway"
    /// It is served all the same.
    case accept
}

/// The files of a server certificate.
package struct CertificateFiles: Equatable, Sendable {
    /// PEM file of the certificate chain.
    package var certificate: String
    /// PEM file of its private key.
    package var privateKey: String

    package init(certificate: String, privateKey: String) {
        self.certificate = certificate
        self.privateKey = privateKey
    }
}
