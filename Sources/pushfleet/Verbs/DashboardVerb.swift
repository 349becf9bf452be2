internal import ArgumentParser
internal import Dashboard
internal import Logging

/// `pushfleet dashboard`: the fleet as a web page.
struct DashboardVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard",
        abstract: "Serve the fleet as a web page: overview, apps, budget, retries, dead letters, find.",
        discussion: """
            It reads Redis and RabbitMQ and needs no worker alive. It prints
            "port=<number>" when it listens, and logs to standard error, every action
            with who did it. Run as many as you like.

            In the configuration, beside amqp and redis:
              dashboard:
                tokens_file: /run/secrets/dashboard-tokens

            That file has one line for each user: a name, actor or reader, and a token.
            Actors may pause, resume, replay and purge; readers may look.
              echo "lena actor $(openssl rand -hex 32)" >dashboard-tokens
            Instead of the token, sha256: and its SHA-256 may stand there:
              printf %s "$TOKEN" | sha256sum
            The file is read again when it changes; who is not in it any more is logged
            out. Behind a reverse proxy that knows its users, no tokens are needed:
              dashboard:
                proxy_header: X-Forwarded-User
                proxy_addresses: 10.0.0.7
                proxy_actors: lena, tim

            It listens on 127.0.0.1 unless dashboard.host says otherwise; beyond that,
            give it a certificate or a proxy with TLS.

            GET /livez, /readyz and /metrics need no login.

            SIGTERM or Ctrl-C finishes what is under way and exits with 0.
            Exit codes: 0 ended as asked, 1 cannot start, 64 wrong usage, 78 wrong
            configuration.
            """
    )

    @OptionGroup var config: ConfigurationOption

    @Option(help: "The port to listen on; goes before dashboard.port. 0 takes a free one.")
    var port: UInt16?

    func run() async throws {
        let loaded = try self.config.require([.servers, .dashboard])
        let logger = ServerProcess.begin("pushfleet.dashboard", logLevel: loaded.logLevel)
        do {
            let latest = LatestConfiguration(loaded)
            let parts = try DashboardParts(loaded, port: self.port) { latest.value }
            let dashboard = try await Dashboard.start(parts, logger: logger)
            let option = self.config.file
            let reload = DashboardReload(of: latest, dashboard: dashboard, logger: logger) {
                ConfigurationLoader().load(option: option, needs: [.servers, .dashboard])
            }
            try await ServerProcess.serve(
                port: dashboard.port,
                logger: logger,
                health: {
                    ServiceHealth(status: "listening on port \(dashboard.port)")
                },
                reload: { await reload.run(hangups: $0) },
                stop: { await dashboard.stop() }
            )
        } catch {
            throw VerbFailure("the dashboard cannot start: \(error)")
        }
    }
}
