/// Whether the keys of a credential make one whole way to prove it: a signing key, a certificate in PEM, or a .p12 file.
struct CredentialChecks {
    let values: SettingValues
    private(set) var problems: [ConfigurationProblem] = []
    private var faulty: Set<String> = []

    private static let token = ["team_id", "key_id", "key_file"]
    private static let pem = ["certificate_file", "private_key_file"]

    init(values: SettingValues) {
        self.values = values
    }

    /// Whether nothing was wrong with this credential's keys.
    func isSound(_ name: String) -> Bool { !self.faulty.contains(name) }

    mutating func check(_ name: String) {
        func isSet(_ key: String) -> Bool { self.values.origin(of: ["credentials", name, key]) != .unset }
        let token = Self.token.filter(isSet)
        let pem = Self.pem.filter(isSet)
        let isPKCS12 = isSet("pkcs12_file")
        let passphrases = ["passphrase", "passphrase_file"].filter(isSet)

        if let key = token.first, let other = pem.first ?? (isPKCS12 ? "pkcs12_file" : nil) {
            self.report(name, other, "stands beside \(key); a credential is either a signing key or a certificate")
        } else if isPKCS12, let other = pem.first {
            self.report(name, other, "stands beside pkcs12_file, which holds the certificate and its key; keep one")
        } else if !token.isEmpty {
            for key in Self.token where !isSet(key) {
                self.report(name, key, "is missing; \(token.joined(separator: " and ")) alone do not sign")
            }
            if let key = passphrases.first { self.report(name, key, "opens certificates only; Apple's .p8 has none") }
        } else if pem == ["private_key_file"] {
            self.report(name, "certificate_file", "is missing; private_key_file belongs to a certificate")
        } else if pem.isEmpty, !isPKCS12 {
            self.report(
                name,
                nil,
                "a key or certificate is missing; set team_id, key_id and key_file for a signing key, or certificate_file or "
                    + "pkcs12_file for a certificate"
            )
        }
        if passphrases.count == 2 { self.report(name, "passphrase_file", "stands beside passphrase; keep one of them") }
    }

    private mutating func report(_ name: String, _ key: String?, _ text: String) {
        self.faulty.insert(name)
        self.problems.append(self.values.problem(at: ["credentials", name] + (key.map { [$0] } ?? []), text, .error))
    }
}
