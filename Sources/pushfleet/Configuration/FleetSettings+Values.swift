internal import Broker
internal import Push
internal import Store
internal import Worker

extension SettingValues {
    /// The settings as plain values. What is missing or wrong is reported elsewhere and left out or standard here.
    ///
    /// - Parameter problems: rules between values of one app that do not hold.
    func fleetSettings(
        credentials: [String],
        apps: [String],
        amqpURL: String,
        redisURL: String,
        problems: inout [ConfigurationProblem]
    ) -> FleetSettings {
        var settings = FleetSettings(
            amqp: ServerSettings(url: amqpURL, caFile: self.text("amqp", "ca_file")),
            redis: ServerSettings(url: redisURL, caFile: self.text("redis", "ca_file"))
        )
        settings.amqpHeartbeat = self.duration("amqp", "heartbeat") ?? settings.amqpHeartbeat
        // RabbitMQ's own way to write it holds where ours is left out.
        if self.origin(of: ["amqp", "heartbeat"]) == .standard, let address = try? AMQPAddress(parsing: amqpURL) {
            settings.amqpHeartbeat = address.heartbeat
        }
        settings.budget = self.budget()
        settings.worker = self.worker()
        settings.trail.keep = self.duration("trail", "keep") ?? settings.trail.keep
        settings.trail.maxMemory = self.number("trail", "max_memory") ?? settings.trail.maxMemory
        settings.credentials = credentials.sorted().compactMap { self.credential($0) }
        settings.apps = apps.sorted().compactMap { self.app($0, problems: &problems) }
        return settings
    }

    private func budget() -> BudgetSettings {
        var budget = BudgetSettings()
        budget.lease = self.duration("budget", "lease") ?? budget.lease
        budget.heartbeat = self.duration("budget", "heartbeat") ?? budget.heartbeat
        budget.quantum = self.duration("budget", "quantum") ?? budget.quantum
        budget.connectRate = self.number("budget", "connect_rate") ?? budget.connectRate
        return budget
    }

    private func worker() -> WorkerSettings {
        var worker = WorkerSettings()
        worker.loops = self.number("worker", "loops") ?? worker.loops
        worker.drainTimeout = self.duration("worker", "drain_timeout") ?? worker.drainTimeout
        worker.requestTimeout = self.duration("worker", "request_timeout") ?? worker.requestTimeout
        worker.pingInterval = self.duration("worker", "ping_interval") ?? worker.pingInterval
        worker.pingTimeout = self.duration("worker", "ping_timeout") ?? worker.pingTimeout
        worker.maxConnectionAge = self.duration("worker", "max_connection_age") ?? worker.maxConnectionAge
        worker.streamsPerConnection = self.number("worker", "streams_per_connection") ?? worker.streamsPerConnection
        worker.prefetchPerConnection = self.number("worker", "prefetch_per_connection") ?? worker.prefetchPerConnection
        worker.streamsPerToken = self.number("worker", "streams_per_token") ?? worker.streamsPerToken
        worker.counterInterval = self.duration("worker", "counter_interval") ?? worker.counterInterval
        worker.adminHost = self.text("worker", "admin_host") ?? worker.adminHost
        worker.adminPort = self.number("worker", "admin_port").flatMap { UInt16(exactly: $0) }
        return worker
    }

    private func credential(_ name: String) -> CredentialSettings? {
        guard
            let environment = self.text("credentials", name, "environment").flatMap(APNsEnvironment.init(rawValue:)),
            let kind = self.credentialKind(name),
            let maxConnections = self.number("credentials", name, "max_connections")
        else { return nil }
        var credential = CredentialSettings(
            name: name,
            environment: environment,
            kind: kind,
            maxConnections: maxConnections
        )
        credential.host = self.text("credentials", name, "host")
        credential.port = self.number("credentials", name, "port").flatMap { UInt16(exactly: $0) }
        credential.channelHost = self.text("credentials", name, "channel_host")
        credential.channelPort = self.number("credentials", name, "channel_port").flatMap { UInt16(exactly: $0) }
        credential.caFile = self.text("credentials", name, "ca_file")
        credential.broadcast = self.broadcastHost(name)
        return credential
    }

    private func broadcastHost(_ name: String) -> BroadcastHost? {
        let host = self.text("credentials", name, "broadcast_host")
        let port = self.number("credentials", name, "broadcast_port").flatMap { UInt16(exactly: $0) }
        guard host != nil || port != nil else { return nil }
        var broadcast = BroadcastHost(host: host, port: port)
        broadcast.connections = self.number("credentials", name, "broadcast_connections") ?? broadcast.connections
        return broadcast
    }

    /// What of the two ways is complete; nil if neither is, which `CredentialChecks` explains.
    private func credentialKind(_ name: String) -> CredentialSettings.Kind? {
        func text(_ key: String) -> String? { self.text("credentials", name, key) }
        if let teamID = text("team_id"), let keyID = text("key_id"), let file = text("key_file") {
            return .token(SigningKeySettings(teamID: teamID, keyID: keyID, file: file))
        }
        let source: CertificateSettings.Source
        if let file = text("certificate_file") {
            source = .pem(certificate: file, privateKey: text("private_key_file"))
        } else if let file = text("pkcs12_file") {
            source = .pkcs12(file)
        } else {
            return nil
        }
        let passphrase = text("passphrase").map { CertificateSettings.Passphrase.text($0) }
        return .certificate(
            CertificateSettings(source: source, passphrase: passphrase ?? text("passphrase_file").map { .file($0) })
        )
    }

    private func app(_ name: String, problems: inout [ConfigurationProblem]) -> AppSettings? {
        guard let credential = self.text("apps", name, "credential") else { return nil }
        var app = AppSettings(
            id: name,
            bundleID: self.text("apps", name, "bundle_id") ?? name,
            credential: credential,
            retry: self.retry(name, problems: &problems),
            fit: self.text("apps", name, "fit").flatMap(PayloadFit.init) ?? .reject,
            lint: self.text("apps", name, "lint").flatMap(PayloadLint.Mode.init) ?? .off
        )
        if let rate = self.number("apps", name, "rate") {
            app.rate = try? RateLimit(rate: rate, bucketSize: self.number("apps", name, "bucket_size"))
        }
        app.weight = self.number("apps", name, "weight") ?? app.weight
        app.breaker.window = self.number("apps", name, "breaker", "window") ?? app.breaker.window
        app.breaker.threshold = self.number("apps", name, "breaker", "threshold") ?? app.breaker.threshold
        return app
    }

    private func retry(_ app: String, problems: inout [ConfigurationProblem]) -> RetrySchedule {
        let standard = RetrySchedule.standard
        do throws(SettingFault) {
            return try RetrySchedule(
                minBackoff: self.duration("apps", app, "retry", "min_backoff") ?? standard.minBackoff,
                maxBackoff: self.duration("apps", app, "retry", "max_backoff") ?? standard.maxBackoff,
                maxDoublings: self.number("apps", app, "retry", "max_doublings") ?? standard.maxDoublings,
                ageLimit: self.duration("apps", app, "retry", "age_limit") ?? standard.ageLimit,
                retryLimit: self.number("apps", app, "retry", "retry_limit")
            )
        } catch {
            guard !self.hasBroken(below: ["apps", app, "retry"]) else { return standard }
            let path = ["apps", app, "retry", error.setting]
            let detail = error.detail.hasSuffix(".") ? String(error.detail.dropLast()) : error.detail
            problems.append(
                ConfigurationProblem(
                    place: self.place(of: path),
                    key: path.joined(separator: "."),
                    text: detail,
                    line: self.line(of: path)
                )
            )
            return standard
        }
    }
}
