package import APNs
package import Push
package import Wire

/// All that one credential is, read from its files and checked: from here on nothing about it can be at fault but
/// Apple's opinion. To swap a credential is to load another of these and open connections with it.
package struct LoadedCredential: Sendable {
    package enum Kind: Sendable {
        case token(ProviderTokenSigner)
        case certificate(ClientCertificate)
    }

    /// With the certificate's subject filled in, so that `settings.pool` names the budget.
    package let settings: CredentialSettings
    package let kind: Kind
    package let tls: TLSContext

    /// - Parameters:
    ///   - files: what the settings' files hold.
    ///   - now: a certificate must be valid at this time.
    package init(
        _ settings: CredentialSettings,
        files: CredentialFiles,
        at now: UnixTime
    ) throws(CredentialFault) {
        var settings = settings
        var identity: TLSIdentity?
        switch settings.kind {
        case .token(let key):
            self.kind = .token(try Self.signer(key, files, settings))
        case .certificate(var certificate):
            let loaded = try Self.identity(certificate, files, settings)
            let client = try Self.certificate(loaded, certificate, settings, at: now)
            certificate.subject = client.subject
            settings.kind = .certificate(certificate)
            self.kind = .certificate(client)
            identity = loaded
        }
        self.settings = settings
        do throws(TLSContextError) {
            self.tls = try TLSContext.client(trusting: settings.caFile, alpn: "h2", identity: identity)
        } catch {
            throw CredentialFault(settings, field: "ca_file", "\(error)")
        }
    }

    /// The same, from disk.
    package static func load(
        _ settings: CredentialSettings,
        at now: UnixTime
    ) throws(CredentialFault) -> LoadedCredential {
        try LoadedCredential(settings, files: CredentialFiles.read(for: settings), at: now)
    }

    private static func signer(
        _ key: SigningKeySettings,
        _ files: CredentialFiles,
        _ settings: CredentialSettings
    ) throws(CredentialFault) -> ProviderTokenSigner {
        do throws(InvalidSigningKey) {
            let pem = String(decoding: files[key.file], as: UTF8.self)
            return try ProviderTokenSigner(keyID: key.keyID, teamID: key.teamID, pem: pem)
        } catch {
            throw CredentialFault(
                settings,
                field: "key_file",
                "\(key.file) is not a P-256 private key in PEM; use the AuthKey_\(key.keyID).p8 file as it came from "
                    + "Apple"
            )
        }
    }

    private static func identity(
        _ certificate: CertificateSettings,
        _ files: CredentialFiles,
        _ settings: CredentialSettings
    ) throws(CredentialFault) -> TLSIdentity {
        let passphrase: String? =
            switch certificate.passphrase {
            case .text(let text)?: text
            case .file(let path)?: String(decoding: files[path].prefix { $0 != 10 && $0 != 13 }, as: UTF8.self)
            case nil: nil
            }
        do throws(TLSIdentityError) {
            switch certificate.source {
            case .pem(let file, let keyFile):
                return try TLSIdentity(
                    pem: files[file],
                    privateKey: files[keyFile ?? file],
                    passphrase: passphrase
                )
            case .pkcs12(let file):
                return try TLSIdentity(pkcs12: files[file], passphrase: passphrase)
            }
        } catch {
            throw certificate.fault(error, settings)
        }
    }

    private static func certificate(
        _ identity: TLSIdentity,
        _ certificate: CertificateSettings,
        _ settings: CredentialSettings,
        at now: UnixTime
    ) throws(CredentialFault) -> ClientCertificate {
        func fault(_ problem: String) -> CredentialFault {
            CredentialFault(settings, field: certificate.field, "\(certificate.file) \(problem)")
        }
        guard let client = ClientCertificate(identity.certificate) else {
            throw fault(
                "is not a certificate for APNs: it needs a UID in its subject and Apple's extension for an "
                    + "environment; make one at https://developer.apple.com/account under Certificates"
            )
        }
        guard now <= client.notAfter else {
            throw fault("holds a certificate that expired on \(client.notAfter.date); renew it at Apple")
        }
        guard client.notBefore <= now else {
            throw fault("holds a certificate that is not valid before \(client.notBefore.date); check this clock")
        }
        let isAllowed = settings.environment == .production ? client.allowsProduction : client.allowsSandbox
        guard isAllowed else {
            let other: APNsEnvironment = settings.environment == .production ? .sandbox : .production
            throw CredentialFault(
                settings,
                field: "environment",
                "is \(settings.environment.rawValue), but the certificate in \(certificate.file) is for "
                    + "\(other.rawValue) only"
            )
        }
        return client
    }
}

extension LoadedCredential {
    private init(_ settings: CredentialSettings, _ kind: Kind, _ tls: TLSContext) {
        self.settings = settings
        self.kind = kind
        self.tls = tls
    }

    /// The same proof for the connections that broadcasts have to themselves; nil if they have none.
    package var forBroadcasts: LoadedCredential? {
        self.settings.forBroadcasts.map { LoadedCredential($0, self.kind, self.tls) }
    }

    /// Why an app cannot send with it, whatever it sends; nil if it can.
    ///
    /// A certificate for VoIP only is right for an app that sends nothing else, so one topic that is covered is enough.
    package func refusal(for app: AppSettings) -> String? {
        guard case .certificate(let certificate) = self.kind else { return nil }
        let isCovered = PushType.allCases.contains { type in
            certificate.covers(Topic.derive(bundleID: app.bundleID, pushType: type))
        }
        guard !isCovered else { return nil }
        let topics = certificate.topics.map(\.name).joined(separator: ", ")
        return "is \(self.settings.configuredName), whose certificate covers \(topics) and no topic of "
            + "\(app.bundleID); use the certificate of that app, or a signing key of its team"
    }

    /// When the certificate ends; nil for a key, which does not.
    package var expiresAt: UnixTime? {
        if case .certificate(let certificate) = self.kind { certificate.notAfter } else { nil }
    }
}

extension CertificateSettings {
    fileprivate func fault(_ error: TLSIdentityError, _ settings: CredentialSettings) -> CredentialFault {
        let keyFile: String? = if case .pem(_, let file?) = self.source { file } else { nil }
        switch error.part {
        case .certificate:
            return CredentialFault(settings, field: self.field, "\(self.file) \(error.problem)")
        case .privateKey:
            let field = keyFile == nil ? self.field : "private_key_file"
            return CredentialFault(settings, field: field, "\(keyFile ?? self.file) \(error.problem)")
        case .passphrase:
            let field = if case .text? = self.passphrase { "passphrase" } else { "passphrase_file" }
            return CredentialFault(settings, field: field, "\(keyFile ?? self.file) \(error.problem)")
        }
    }
}
