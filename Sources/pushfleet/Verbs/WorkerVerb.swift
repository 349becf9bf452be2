internal import ArgumentParser
internal import Logging
internal import Worker

/// `pushfleet worker`: one replica of the fleet.
struct WorkerVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Run one worker: take messages from RabbitMQ and get each one an answer from Apple.",
        discussion: """
            Run as many as you like, on as many machines as you like; together they never
            hold more connections to Apple than the configuration allows. It prints "ready"
            when it takes messages, and logs to standard error.

            SIGTERM or Ctrl-C drains: it takes nothing new, waits for answers
            (worker.drain_timeout), gives the rest back, and exits with 0. A second signal
            ends it at once with 1. pushfleet drain does what SIGTERM does, from anywhere.

            A key or certificate file that changes is used within seconds, without losing
            or doubling a message. So is the configuration file: apps and credentials come,
            change and go, and the others do not notice. SIGHUP does both at once. Other
            changes need a restart, and the log names them. Apps may also live in Redis,
            see pushfleet app.

            With worker.admin_port it answers /livez, /readyz and /metrics. systemd is told
            when it is ready, how it is, and that its loops go round (Type=notify).

            --loops runs several workers in one process, each with a thread,
            connections and a lease of its own; "ready" comes when all of them are.

            Examples:
              pushfleet worker --config pushfleet.yaml
              pushfleet worker --config pushfleet.yaml --loops 4
            """
    )

    @OptionGroup var config: ConfigurationOption

    @Option(help: ArgumentHelp("Workers in this process, 1 to 64; goes before worker.loops.", valueName: "n"))
    var loops: Int?

    func validate() throws {
        if let loops, let problem = Self.problem(loops: loops) { throw ValidationError(problem) }
    }

    /// What is wrong with the number of loops; nil if nothing is.
    static func problem(loops: Int) -> String? {
        let allowed = SettingsTable.loops
        guard !allowed.contains(loops) else { return nil }
        return "--loops must be a number from \(allowed.lowerBound) to \(allowed.upperBound), but is \(loops); for "
            + "more, run more processes"
    }

    func run() async throws {
        let loaded = try self.config.require([.servers, .keys])
        let logger = ServerProcess.begin("pushfleet.worker", logLevel: loaded.logLevel)
        let settings = loaded.settings
        let option = self.config.file
        let loops = self.loops ?? settings.worker.loops
        for credential in settings.credentials where self.loops != nil && credential.broadcastsOf == nil {
            if let crowding = SettingChecks.crowding(loops, credential) { Terminal.say("warning: --loops \(crowding)") }
        }
        let (hangups, hangup) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        logger.info(
            "starting",
            metadata: [
                "version": "\(Version.current)", "config": "\(loaded.file ?? "")", "apps": "\(settings.apps.count)",
                "loops": "\(loops)",
                "credentials": "\(settings.credentials.count { $0.broadcastsOf == nil })",
            ]
        )
        do {
            try await StopSignals.run { signal in
                logger.notice("draining; a second signal ends at once", metadata: ["signal": "\(signal)"])
            } onHangup: {
                hangup.yield()
            } _: { drain in
                try await WorkerProcess.run(
                    loaded,
                    option: option,
                    loops: loops,
                    logger: logger,
                    drain: drain,
                    hangups: hangups
                ) {
                    Terminal.print("ready")
                }
            }
        } catch let failure as VerbFailure {
            throw failure
        } catch {
            throw VerbFailure("the worker cannot go on: \(error)")
        }
        logger.info("stopped")
    }
}
