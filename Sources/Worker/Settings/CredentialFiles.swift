internal import Wire

/// The content of the files that prove a credential, by their paths. Two readings are equal if no file changed.
package struct CredentialFiles: Sendable, Equatable {
    private let contents: [String: [UInt8]]

    package init(_ contents: [String: [UInt8]]) {
        self.contents = contents
    }

    /// Reads them from disk.
    package static func read(for settings: CredentialSettings) throws(CredentialFault) -> CredentialFiles {
        var contents: [String: [UInt8]] = [:]
        for path in settings.files {
            do throws(FileError) {
                contents[path] = try FileBytes.read(path)
            } catch {
                throw CredentialFault(settings, field: settings.field(of: path), "\(error)")
            }
        }
        return CredentialFiles(contents)
    }

    package subscript(path: String) -> [UInt8] { self.contents[path] ?? [] }
}

extension CredentialSettings {
    /// The configuration key that names the file.
    func field(of path: String) -> String {
        switch self.kind {
        case .token: return "key_file"
        case .certificate(let certificate):
            if case .file(path)? = certificate.passphrase { return "passphrase_file" }
            if case .pem(_, path?) = certificate.source, path != certificate.file { return "private_key_file" }
            return certificate.field
        }
    }
}

extension CredentialSettings {
    /// The files that nobody else should be able to read, each with the configuration key that names it.
    package var secretFiles: [(file: String, field: String)] {
        if case .certificate(let certificate) = self.kind, case .pem(let file, _?) = certificate.source {
            // The certificate alone is no secret.
            return self.files.filter { $0 != file }.map { ($0, self.field(of: $0)) }
        }
        return self.files.map { ($0, self.field(of: $0)) }
    }
}

extension CertificateSettings {
    /// The configuration key that names the file with the certificate in it.
    package var field: String {
        switch self.source {
        case .pem: "certificate_file"
        case .pkcs12: "pkcs12_file"
        }
    }
}

/// Why a credential cannot be used: the key of the configuration to look at, and what is wrong, with what to do.
package struct CredentialFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The operator's name of the credential.
    package let credential: String
    /// The last word of the key, such as `certificate_file`.
    package let field: String
    /// One sentence without the closing full stop. Names files, never what is in them.
    package let problem: String

    init(_ settings: CredentialSettings, field: String, _ problem: String) {
        self.credential = settings.configuredName
        self.field = field
        self.problem = problem
    }

    package var description: String { "credentials.\(self.credential).\(self.field): \(self.problem)" }
}
