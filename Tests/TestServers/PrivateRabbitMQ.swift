import Foundation
import Synchronization

/// A real RabbitMQ of this test run alone, on loopback, in a temporary directory. User and password are `guest`.
///
/// Starting one takes about five seconds. Tests that do not stop, pause or starve it take `shared`, each with a
/// virtual host of its own from `makeVhost()`.
package final class PrivateRabbitMQ: Sendable {
    /// One server for the whole test process, started on first use, with AMQPS from `TestCertificates.shared`.
    package static let shared: PrivateRabbitMQ = {
        do {
            return try PrivateRabbitMQ(tls: .shared, vhosts: 50)
        } catch {
            fatalError("the shared RabbitMQ does not start: \(error)")
        }
    }()

    private let process: ServerProcess
    private let prepared: Int
    private let handedOut = Mutex(0)

    /// Starts a server and waits until it answers AMQP.
    ///
    /// - Parameters:
    ///   - tls: certificates for a second listener that speaks AMQPS; none by default.
    ///   - vhosts: how many virtual hosts to create at start; each adds about 20 ms.
    ///   - management: whether to enable the management plugin, which slows starting and stopping.
    /// - Throws: `CommandFailure` with the end of the server's log.
    package init(tls: TestCertificates? = nil, vhosts: Int = 2, management: Bool = false) throws {
        var options = ["--vhosts", "\(vhosts)"]
        if let tls { options += ["--tls", tls.directory] }
        if management { options.append("--mgmt") }
        self.process = try ServerProcess(script: "private-rabbitmq", kind: "rabbitmq", options: options)
        self.prepared = vhosts
    }

    deinit {
        self.process.stop()
    }

    /// The AMQP port on 127.0.0.1; the same after a restart.
    package var port: Int { self.process.value("port")! }

    /// The AMQPS port, if the server was started with certificates. The certificate is for `localhost`.
    package var tlsPort: Int? { self.process.value("tls_port") }

    /// The port of the management plugin, if it is enabled.
    package var managementPort: Int? { self.process.value("mgmt_port") }

    /// The server's process, `nil` after `kill()`, `shutDown()` and `stop()`.
    package var pid: Int? { self.process.value("pid") }

    /// Where the server keeps its data and logs.
    package var directory: String { self.process.directory }

    /// An `amqp://` address of this server; through another port for a proxy in between.
    package func url(vhost: String = "/", port: Int? = nil) -> String {
        let name = vhost == "/" ? "%2F" : vhost
        return "amqp://guest:guest@localhost:\(port ?? self.port)/\(name)"
    }

    /// An empty virtual host that nobody else got, with all rights for `guest`.
    package func makeVhost() throws -> String {
        let index = self.handedOut.withLock { count in
            defer { count += 1 }
            return count
        }
        let name = "vhost-\(index)"
        if index >= self.prepared {
            try self.rabbitmqctl("add_vhost", name)
            try self.rabbitmqctl("set_permissions", "-p", name, "guest", ".*", ".*", ".*")
        }
        return name
    }

    /// Runs `rabbitmqctl -q` against this server and returns what it printed. Takes about half a second.
    @discardableResult
    package func rabbitmqctl(_ arguments: String...) throws -> String {
        // Without a server, rabbitmqctl would start an epmd that nobody stops.
        precondition(self.process.isRunning, "rabbitmqctl needs a running server")
        let source = "source \"$1\" && shift && exec rabbitmqctl -q \"$@\""
        return try Repository.run(
            ["bash", "-c", source, "rabbitmqctl", "\(self.directory)/env"] + arguments
        )
    }

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
    package func pause() { self.process.signal(SIGSTOP) }

    /// Ends a `pause()`.
    package func resume() { self.process.signal(SIGCONT) }

    /// Ends the server and removes its data. It cannot be started again.
    package func stop() { self.process.stop() }
}
