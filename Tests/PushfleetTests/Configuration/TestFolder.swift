internal import Crypto
internal import Foundation

/// A folder for one test, with files in it.
final class TestFolder {
    let path: String

    init() throws {
        self.path = FileManager.default.temporaryDirectory.appendingPathComponent("pushfleet-\(UUID())").path
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: self.path)
    }

    /// Writes a file and returns its path.
    func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        let file = "\(self.path)/\(name)"
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }

    /// Writes a new signing key and returns its path.
    func writeKey(_ name: String = "AuthKey.p8", mode: Int = 0o600) throws -> String {
        try self.write(name, P256.Signing.PrivateKey().pemRepresentation, mode: mode)
    }
}
