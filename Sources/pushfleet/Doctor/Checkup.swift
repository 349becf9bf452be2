internal import Desk
internal import Loop
internal import Push
internal import Wire
internal import Worker

/// The checks of `pushfleet doctor` that leave this process: clock, servers, Apple.
struct Checkup {
    let settings: FleetSettings
    let timeout: Duration

    func run(_ report: ([Finding]) -> Void) async {
        report([Self.clock(WallClock.now())])
        let bench: Bench
        do throws(LoopError) {
            bench = try Bench(name: "doctor")
        } catch {
            return report([Finding("process", .fail, "cannot start a thread: \(error)")])
        }
        defer { bench.stop() }
        if let broker = try? self.settings.brokerSettings(name: "pushfleet doctor") {
            report(
                await BrokerCheckup.findings(broker, topology: self.settings.topology, timeout: self.timeout)
            )
        }
        if !self.settings.redis.url.isEmpty {
            report(
                await RedisCheckup.findings(
                    url: self.settings.redis.url,
                    caFile: self.settings.redis.caFile,
                    timeout: self.timeout
                )
            )
        }
        for credential in self.settings.credentials { report([await self.apple(credential, bench)]) }
    }

    /// A clock that lies in the past makes every provider token invalid and every message look young.
    static func clock(_ now: UnixTime) -> Finding {
        // 2024 to 2100: before the one this program did not exist, after the other nobody will thank us.
        guard (1_704_067_200..<4_102_444_800).contains(now.seconds) else {
            return Finding(
                "clock",
                .fail,
                "this machine's clock is far off: \(now.seconds) seconds since 1970",
                fix: "set the clock, and run an NTP client"
            )
        }
        return Finding("clock", .ok, "the year is plausible")
    }

    /// TCP, TLS and ALPN with Apple or whatever stands in for it. No push is sent.
    private func apple(_ credential: CredentialSettings, _ bench: Bench) async -> Finding {
        let endpoint = Endpoint(
            host: credential.host ?? credential.environment.host,
            port: credential.port ?? 443
        )
        let subject = "apns \(credential.name)"
        let result = await ConnectionProbe.shakeHands(
            with: endpoint,
            caFile: credential.caFile,
            alpn: "h2",
            proxy: credential.proxy,
            timeout: self.timeout,
            bench: bench
        )
        switch result {
        case .success(let time):
            return Finding(subject, .ok, "\(endpoint) speaks TLS and HTTP/2 (\(time.milliseconds) ms)")
        case .failure(let failure):
            return Finding(subject, .fail, "\(endpoint): \(failure)", fix: Self.fix(failure, credential))
        }
    }

    static func fix(_ failure: ConnectionProbe.Failure, _ credential: CredentialSettings) -> String {
        let key = "credentials.\(credential.configuredName)"
        let host = credential.broadcastsOf == nil ? "host" : "broadcast_host"
        return switch failure {
        case .context: "mend \(key).ca_file"
        case .transport(.proxy), .transport(.timeout(stage: .proxy)):
            "check \(key).proxy, and that the proxy lets CONNECT through to Apple on this port"
        case .transport(.resolve) where credential.proxy != nil:
            "check this machine's DNS, and the host in \(key).proxy"
        case .transport(.resolve): "check this machine's DNS, and \(key).\(host)"
        case .transport(.tls):
            "if a simulator or a proxy answers, name its CA in \(key).ca_file; else see who "
                + "stands in between"
        default: "open the way out to this host and port; Apple's addresses are in 17.0.0.0/8"
        }
    }
}
