package import Broker
internal import Wire

/// Whether RabbitMQ is there and as the fleet needs it. Creates nothing.
package enum BrokerCheckup {
    package static func findings(
        _ settings: BrokerSettings,
        topology: Topology,
        timeout: Duration
    ) async -> [Finding] {
        var settings = settings
        settings.transport.connectTimeout = timeout
        let subject = "rabbitmq"
        let session: BrokerSession
        do {
            session = try await BrokerSession.connect(settings, timeout: timeout)
        } catch {
            return [Finding(subject, .fail, "cannot use \(settings.address): \(error)", fix: Self.fix(error))]
        }
        var findings: [Finding] = []
        do throws(BrokerError) {
            findings.append(Finding(subject, .ok, "\(settings.address) is \(try await session.product)"))
            findings += Self.topology(
                topology,
                differences: try await session.verify(topology, comparingArguments: true)
            )
        } catch {
            findings.append(
                Finding(subject, .fail, "the connection ended: \(error)", fix: "see RabbitMQ's log")
            )
        }
        await session.close()
        return findings
    }

    static func topology(_ topology: Topology, differences: [TopologyDifference]) -> [Finding] {
        let subject = "topology"
        guard !differences.isEmpty else {
            let count = "\(topology.exchanges.count) exchanges and \(topology.queues.count) queues"
            return [Finding(subject, .ok, "\(count) are as they should be")]
        }
        let missing = differences.filter { $0.problem == .missing }
        var findings: [Finding] = []
        if missing.count > 3 {
            findings.append(
                Finding(
                    subject,
                    .fail,
                    "\(missing.count) exchanges and queues are missing",
                    fix: "run pushfleet topology declare"
                )
            )
        }
        for difference in differences where missing.count <= 3 || difference.problem != .missing {
            findings.append(Self.finding(subject, difference))
        }
        return findings
    }

    private static func finding(_ subject: String, _ difference: TopologyDifference) -> Finding {
        switch difference.problem {
        case .missing:
            Finding(subject, .fail, "\(difference)", fix: "run pushfleet topology declare")
        case .differs:
            Finding(
                subject,
                .fail,
                "\(difference)",
                fix: "let it run empty, delete it, and run pushfleet topology declare"
            )
        case .notPermitted:
            // A worker's user may not configure; it is no fault of the fleet that its arguments stay unseen.
            Finding(subject, .warn, "\(difference)", fix: "ask with a user that may configure pushfleet.*")
        case .failed:
            Finding(subject, .fail, "\(difference)", fix: "see RabbitMQ's log")
        }
    }

    static func fix(_ error: any Error) -> String {
        switch error as? BrokerError {
        case .refused: "mend user, password and virtual host in amqp.url, and the user's permissions"
        case .transport(.resolve): "mend the host in amqp.url, or this machine's DNS"
        case .transport(.tls): "mend amqp.ca_file, or the broker's certificate"
        default: "check that RabbitMQ runs there, and amqp.url"
        }
    }
}
