internal import Glibc

/// Small files, such as keys and certificates, read whole.
package enum FileBytes {
    /// Nothing that a configuration names is larger.
    private static let limit = 1 << 20

    /// The content of a file.
    package static func read(_ path: String) throws(FileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: path, problem: Self.phrase(errno)) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError(path: path, problem: Self.phrase(errno)) }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= Self.limit else {
                throw FileError(path: path, problem: "cannot be read: it is larger than 1 MiB")
            }
        }
    }

    private static func phrase(_ error: Int32) -> String {
        switch error {
        case ENOENT, ENOTDIR: "cannot be read: there is no such file"
        case EISDIR: "cannot be read: it is a directory"
        case EACCES, EPERM: "cannot be read by this user; check its owner and mode"
        default: "cannot be read: \(String(cString: strerror(error)))"
        }
    }
}

/// A file cannot be read.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    package let path: String
    /// Follows the file's name.
    package let problem: String

    package var description: String { "\(self.path) \(self.problem)" }
}
