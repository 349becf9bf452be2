import Foundation

/// A real Redis of this test run alone, on loopback, in a temporary directory. It starts within 0.1 s.
package final class PrivateRedis: Sendable {
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

    private let process: ServerProcess

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

    /// The port on 127.0.0.1; the same after a restart.
    package var port: Int { self.process.value("port")! }

    /// The TLS port, if the server was started with certificates. The certificate is for `localhost`.
    package var tlsPort: Int? { self.process.value("tls_port") }

    /// The server's process, `nil` after `kill()`, `shutDown()` and `stop()`.
    package var pid: Int? { self.process.value("pid") }

    /// Where the server keeps its data and log.
    package var directory: String { self.process.directory }

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

    /// Ends the server in good order and starts it again on the same ports.
    package func restart() throws {
        try self.process.shutDown()
        try self.process.start()
    }

    /// Starts the server again after `kill()` or `shutDown()`.
    package func start() throws { try self.process.start() }

    /// Ends the server in good order; its data stay for `start()`.
    package func shutDown() throws { try self.process.shutDown() }

    /// Ends the server with SIGKILL; its data stay for `start()`.
    package func kill() throws { try self.process.kill() }

    /// Freezes the server: connections stay open and silent, and new ones are still accepted by the kernel.
    package func pause() { self.process.signal(SIGSTOP) }

    /// Ends a `pause()`.
    package func resume() { self.process.signal(SIGCONT) }

    /// Ends the server and removes its data. It cannot be started again.
    package func stop() { self.process.stop() }
}
