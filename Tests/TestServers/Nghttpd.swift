import Foundation

/// An HTTP/2 server that is not ours: nghttpd of Debian's nghttp2-server, on a free port, with the tests' certificate.
package final class Nghttpd: Sendable {
    package let port: UInt16
    private let process: ChildProcess
    private let directory: String

    /// Starts it; returns when it listens.
    /// - Parameters:
    ///   - options: of its command line.
    ///   - files: what it serves: the path below the root, and the content.
    package init(_ options: [String] = [], files: [String: String] = [:]) throws {
        let certificates = TestCertificates.shared
        self.directory = try Repository.makeTemporaryDirectory("nghttpd")
        let root = "\(self.directory)/root"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        for (path, content) in files {
            let file = URL(fileURLWithPath: root + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(content.utf8).write(to: file)
        }
        let text = try Repository.script("free-ports", ["1"]).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let port = UInt16(text) else {
            throw CommandFailure(command: "free-ports", status: 0, output: text)
        }
        self.port = port
        self.process = try ChildProcess(
            ["/usr/sbin/nghttpd"] + options + [
                "--htdocs=\(root)", "--address=127.0.0.1", text, certificates.serverKey, certificates.serverCertificate,
            ],
            output: .file("\(self.directory)/log"),
            errors: .file("/dev/null")
        )
        for _ in 0..<1000 {
            if let socket = LoopbackSocket.connected(to: Int(port)) {
                socket.close(reset: false)
                return
            }
            guard self.process.end == nil else { break }
            usleep(10_000)
        }
        self.stop()
        throw CommandFailure(command: "nghttpd", status: 1, output: "it does not listen on \(port)")
    }

    /// What it printed; with `--verbose` every header of every request.
    package var log: String { (try? String(contentsOfFile: "\(self.directory)/log", encoding: .utf8)) ?? "" }

    /// Stops in its tracks: its kernel still takes bytes, and nobody answers.
    package func freeze() { self.process.signal(SIGSTOP) }

    /// Ends without a word.
    package func crash() {
        self.process.signal(SIGKILL)
        self.process.wait()
    }

    /// Ends it, if it still runs, and removes its files.
    package func stop() {
        if self.process.end == nil { self.crash() }
        Repository.remove(self.directory)
    }
}
