internal import Broker
internal import Desk
internal import Push
internal import Store

/// What needs an eye: a finding of the desk, and where on the page to look.
struct FleetFinding: Encodable, Equatable {
    enum View: String, Encodable {
        case apps, budget, retries, dead, reasons, credentials
    }

    let subject: String
    let state: String
    let text: String
    let fix: String?
    var view: View?
    var app: String?

    init(_ finding: Finding, view: View? = nil, app: String? = nil) {
        self.subject = finding.subject
        self.state = finding.state.rawValue
        self.text = finding.text
        self.fix = finding.fix
        self.view = view
        self.app = app
    }

    private static let limit = 20

    /// The worst first.
    static func all(_ picture: FleetPicture) -> [FleetFinding] {
        let found =
            Self.servers(picture) + Self.pauses(picture) + Self.queues(picture) + Self.budgets(picture)
            + Self.certificates(picture)
        let sorted = found.filter { $0.state == "fail" } + found.filter { $0.state != "fail" }
        return Array(sorted.prefix(Self.limit))
    }

    private static func servers(_ picture: FleetPicture) -> [FleetFinding] {
        [("Redis", picture.redisFailure), ("RabbitMQ", picture.brokerFailure)].compactMap { name, failure in
            failure.map {
                let fix = "Look at \(name); what it knows is missing here until it answers."
                return FleetFinding(Finding(name, .fail, $0, fix: fix))
            }
        }
    }

    private static func pauses(_ picture: FleetPicture) -> [FleetFinding] {
        picture.apps.compactMap { row in
            guard let pause = row.paused, pause.cause != "hand" else { return nil }
            let reason = pause.reason.map { ": \($0)" } ?? ""
            let fix =
                switch pause.cause {
                case "credential": "Check key id, team id and key file of credential \(row.credential ?? "of the app")."
                case "suspects": "Check the app's environment and bundle id against where its tokens come from."
                default: "Apple answers with 5xx or not at all; it goes on when a probe gets through."
                }
            return FleetFinding(
                Finding(row.app, .fail, "is paused (\(pause.cause))\(reason)", fix: fix),
                view: .apps,
                app: row.app
            )
        }
    }

    private static func queues(_ picture: FleetPicture) -> [FleetFinding] {
        guard let queues = picture.queues else { return [] }
        var findings: [FleetFinding] = []
        let missing = queues.filter { $0.depth == nil }
        if let first = missing.first {
            let names = missing.count == 1 ? "\(first.name) is" : "\(missing.count) queues, as \(first.name), are"
            findings.append(
                FleetFinding(
                    Finding("queues", .fail, "\(names) not in RabbitMQ", fix: "Run pushfleet topology declare."),
                    view: .retries
                )
            )
        }
        let waiting = queues.reduce(0) { sum, queue in
            if case .work = queue.role { sum + (queue.depth?.messages ?? 0) } else { sum }
        }
        if waiting > 0, picture.status?.workers.isEmpty == true {
            findings.append(
                FleetFinding(
                    Finding("workers", .fail, "\(waiting) messages wait and there is no worker", fix: "Start workers."),
                    view: .budget
                )
            )
        }
        for queue in queues {
            guard let messages = queue.depth?.messages, messages > 0 else { continue }
            let many = messages == 1 ? "1 message waits" : "\(messages) messages wait"
            switch queue.role {
            case .dead:
                let fix = "Look at the reasons, correct the cause, then replay or purge."
                findings.append(
                    FleetFinding(Finding("dead letters", .warn, "\(many) for a decision", fix: fix), view: .dead)
                )
            case .unrouted:
                let fix = "Publish with the routing key <app>.now or <app>.bulk of a configured app."
                findings.append(
                    FleetFinding(Finding(queue.name, .warn, "\(many) that no queue takes", fix: fix), view: .retries)
                )
            default: break
            }
        }
        return findings
    }

    private static func budgets(_ picture: FleetPicture) -> [FleetFinding] {
        (picture.status?.pools ?? []).flatMap { pool -> [FleetFinding] in
            var findings: [FleetFinding] = []
            if pool.quarantine > .zero {
                let text =
                    "grants nothing new for \(pool.quarantine.milliseconds / 1000 + 1) s: Redis has lost its data"
                findings.append(FleetFinding(Finding(pool.name, .warn, text), view: .budget))
            }
            let idle = pool.leases.count { $0.grant == 0 && $0.want > 0 }
            if idle > 0 {
                findings.append(
                    FleetFinding(
                        Finding(
                            pool.name,
                            .warn,
                            "\(idle) of \(pool.leases.count) workers wait for a connection",
                            fix: "Raise max_connections, or run fewer workers: more than connections help nobody."
                        ),
                        view: .budget
                    )
                )
            }
            return findings
        }
    }

    private static func certificates(_ picture: FleetPicture) -> [FleetFinding] {
        CredentialReport.all(picture).compactMap { credential in
            // What pauses apps is told for each of them.
            guard credential.state != "ok", credential.pausedApps == 0, let text = credential.text else { return nil }
            let state: Finding.State = credential.state == "fail" ? .fail : .warn
            return FleetFinding(Finding(credential.name, state, text, fix: credential.fix), view: .credentials)
        }
    }
}
