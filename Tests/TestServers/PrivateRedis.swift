import Foundation

/// A real Redis of this test run alone, on loopback, in a temporary directory. It starts within 0.1 s.
package final class PrivateRedis: PrivateServer {
    /// One server for the whole test process, started on first use, with TLS from `TestCertificates.shared`.
    ///
    /// Tests in parallel see each other's keys here; a test that flushes, stops or counts keys takes its own.
    package static let shared: PrivateRedis = {
        do {
            return try PrivateRedis(tls: .shared)
        } catch {
            fatalError("the shared Redis does not start: \(error)")
        }
    }()

    package let process: ServerProcess

    /// What clients must give to `AUTH`, if anything.
    package let password: String?

    /// Starts a server and waits until it answers.
    ///
    /// - Parameters:
    ///   - password: what clients must `AUTH` with; none by default.
    ///   - tls: certificates for a second listener that speaks TLS; none by default.
    ///   - volatile: whether every start begins empty; by default data outlive `restart()` and `kill()`.
    /// - Throws: `CommandFailure` with the end of the server's log.
    package init(password: String? = nil, tls: TestCertificates? = nil, volatile: Bool = false) throws {
        var options: [String] = []
        if let password { options += ["--password", password] }
        if let tls { options += ["--tls", tls.directory] }
        if volatile { options.append("--volatile") }
        self.password = password
        self.process = try ServerProcess(script: "private-redis", kind: "redis", options: options)
    }

    deinit {
        self.process.stop()
    }

    /// Runs `redis-cli` against this server and returns what it printed, without the last line feed.
    @discardableResult
    package func cli(_ arguments: String...) throws -> String {
        let environment = self.password.map { ["REDISCLI_AUTH": $0] } ?? [:]
        let output = try Repository.run(
            ["redis-cli", "-p", "\(self.port)"] + arguments,
            environment: environment
        )
        return output.hasSuffix("\n") ? String(output.dropLast()) : output
    }
}
