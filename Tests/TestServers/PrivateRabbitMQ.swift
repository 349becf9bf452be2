import Foundation
import Synchronization

/// A real RabbitMQ of this test run alone, on loopback, in a temporary directory. User and password are `guest`.
///
/// Starting one takes about five seconds. Tests that do not stop, pause or starve it take `shared`, each with a
/// virtual host of its own from `makeVhost()`.
package final class PrivateRabbitMQ: PrivateServer {
    /// One server for the whole test process, started on first use, with AMQPS from `TestCertificates.shared`.
    package static let shared: PrivateRabbitMQ = {
        do {
            return try PrivateRabbitMQ(tls: .shared, vhosts: 50)
        } catch {
            fatalError("the shared RabbitMQ does not start: \(error)")
        }
    }()

    package let process: ServerProcess
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

    /// The port of the management plugin, if it is enabled.
    package var managementPort: Int? { self.process.value("mgmt_port") }

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
}
