internal import Foundation
internal import Wire

/// The simulator's own certificate, for whoever has none.
enum GeneratedCertificate {
    /// Makes `server.pem` and `server.key` in a folder, unless they are there.
    /// - Throws: `VerbFailure`.
    static func make(
        in folder: String,
        host: String,
        names: [String]
    ) throws -> (certificate: String, privateKey: String) {
        let files = (certificate: "\(folder)/server.pem", privateKey: "\(folder)/server.key")
        let manager = FileManager.default
        if manager.fileExists(atPath: files.certificate), manager.fileExists(atPath: files.privateKey) { return files }
        var subjects = ["DNS:localhost", "IP:127.0.0.1"]
        if host != "127.0.0.1", host != "0.0.0.0" { subjects.append("IP:\(host)") }
        for name in names {
            guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-._*".contains($0)) })
            else { throw VerbFailure("--certificate-name \(name) is not a host name", code: VerbFailure.usage) }
            subjects.append("DNS:\(name)")
        }
        do {
            let made = try SelfSignedCertificate(commonName: "PushFleet simulator", names: subjects, days: 825)
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
            guard
                manager.createFile(
                    atPath: files.privateKey,
                    contents: Data(made.privateKey.utf8),
                    attributes: [.posixPermissions: 0o600]
                )
            else { throw VerbFailure("\(files.privateKey) cannot be written") }
            try made.certificate.write(toFile: files.certificate, atomically: true, encoding: .utf8)
        } catch let failure as VerbFailure {
            throw failure
        } catch let error as TLSContextError {
            throw VerbFailure("no certificate could be made: \(error)")
        } catch {
            throw VerbFailure("\(folder) cannot be written: \(error.localizedDescription)")
        }
        return files
    }
}
