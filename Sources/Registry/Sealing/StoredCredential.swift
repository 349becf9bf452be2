/// What proves an app to Apple when it does not stand in a file: what a file would say, and the content of the files it
/// would name. A secret, which never shows in a description.
package struct StoredCredential: Hashable, Sendable, CustomStringConvertible {
    package enum Proof: Hashable, Sendable {
        /// A signing key: ids, and the PEM of the `.p8` file.
        case token(teamID: String, keyID: String, key: String)
        /// A certificate and its private key in PEM.
        case certificate(String, privateKey: String)
    }

    /// `production` or `sandbox`.
    package var environment: String
    package var proof: Proof
    /// Connections that all workers together may hold; nil for the default.
    package var maxConnections: Int?
    /// Host and port other than Apple's, and the PEM file of the authorities to trust there: for a simulator.
    package var host: String?
    package var port: Int?
    package var caFile: String?

    package init(environment: String, proof: Proof) {
        self.environment = environment
        self.proof = proof
    }

    package var description: String {
        switch self.proof {
        case .token(let teamID, let keyID, _): "\(self.environment) key \(keyID) of team \(teamID)"
        case .certificate: "\(self.environment) certificate"
        }
    }

    private var fields: [(String, String?)] {
        var fields: [(String, String?)] = [("environment", self.environment)]
        switch self.proof {
        case .token(let teamID, let keyID, let key):
            fields += [("team_id", teamID), ("key_id", keyID), ("key", key)]
        case .certificate(let certificate, let privateKey):
            fields += [("certificate", certificate), ("private_key", privateKey)]
        }
        return fields + [
            ("max_connections", self.maxConnections.map(String.init)), ("host", self.host),
            ("port", self.port.map(String.init)), ("ca_file", self.caFile),
        ]
    }

    /// Names and values, each ended by a zero byte; values lose theirs, which no PEM has.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for case (let name, let value?) in self.fields {
            bytes += name.utf8
            bytes.append(0)
            bytes += value.utf8.filter { $0 != 0 }
            bytes.append(0)
        }
        return bytes
    }

    /// Names that are not known are passed over.
    init?(encoded: [UInt8]) {
        let parts = encoded.split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        var fields: [String: String] = [:]
        for index in stride(from: 0, to: parts.count - 1, by: 2) { fields[parts[index]] = parts[index + 1] }
        guard let environment = fields["environment"] else { return nil }
        if let teamID = fields["team_id"], let keyID = fields["key_id"], let key = fields["key"] {
            self.init(environment: environment, proof: .token(teamID: teamID, keyID: keyID, key: key))
        } else if let certificate = fields["certificate"], let privateKey = fields["private_key"] {
            self.init(environment: environment, proof: .certificate(certificate, privateKey: privateKey))
        } else {
            return nil
        }
        self.maxConnections = fields["max_connections"].flatMap { Int($0) }
        self.host = fields["host"]
        self.port = fields["port"].flatMap { Int($0) }
        self.caFile = fields["ca_file"]
    }
}

extension StoredCredential: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: []) }
}
