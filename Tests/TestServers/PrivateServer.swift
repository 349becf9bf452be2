import Foundation

/// A server of one test run alone, on loopback, in a temporary directory.
package protocol PrivateServer: Sendable {
    var process: ServerProcess { get }
}

extension PrivateServer {
    /// The port on 127.0.0.1; the same after a restart.
    package var port: Int { self.process.value("port")! }

    /// The TLS port, if the server was started with certificates. The certificate is for `localhost`.
    package var tlsPort: Int? { self.process.value("tls_port") }

    /// The server's process, `nil` after `kill()`, `shutDown()` and `stop()`.
    package var pid: Int? { self.process.value("pid") }

    /// Where the server keeps its data and logs.
    package var directory: String { self.process.directory }

    /// Ends the server in good order and starts it again with its data, on the same ports.
    package func restart() throws {
        try self.process.shutDown()
        try self.process.start()
    }

    /// Starts the server again after `kill()` or `shutDown()`.
    package func start() throws { try self.process.start() }

    /// Ends the server in good order; its data stay for `start()`.
    package func shutDown() throws { try self.process.shutDown() }

    /// Ends the server with SIGKILL, as a power failure of its host would; its data stay for `start()`.
    package func kill() throws { try self.process.kill() }

    /// Freezes the server: connections stay open and silent, and new ones are still accepted by the kernel.
    package func pause() { self.process.pause() }

    /// Ends a `pause()`.
    package func resume() { self.process.signal(SIGCONT) }

    /// Ends the server and removes its data. It cannot be started again.
    package func stop() { self.process.stop() }
}
