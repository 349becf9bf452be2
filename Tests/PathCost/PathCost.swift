import APNs
import Glibc
import Logging
import Push
import Store
import Worker

/// One worker as it ships, between peers that do the same on every run: what it costs is counted from outside, by
/// `scripts/cost`. Works until its input ends.
@main enum PathCost {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 4, let amqp = UInt16(arguments[1]), let redis = UInt16(arguments[2]),
            let apns = UInt16(arguments[3])
        else {
            print("usage: PathCost AMQP-PORT REDIS-PORT APNS-PORT CERTS; scripts/cost runs it")
            Glibc.exit(2)
        }
        let settings = Self.settings(amqp: amqp, redis: redis, apns: apns, certificates: arguments[4])
        // Not an asynchronous main: its way of giving up the first thread is more than valgrind survives.
        Task.detached {
            do {
                try await Self.declare(settings.credentials[0], redis: redis)
                try await Self.work(settings)
            } catch {
                print("the worker cannot start: \(error)")
                Glibc.exit(1)
            }
        }
        while getchar() != EOF {}
        Glibc.exit(0)
    }

    private static func work(_ settings: FleetSettings) async throws {
        let worker = try Worker.start(
            settings,
            version: "cost",
            host: "cost",
            processID: 1,
            logger: Logger(label: "cost"),
            onReady: {}
        )
        try await Task.sleep(for: .seconds(86_400))
        withExtendedLifetime(worker) {}
    }

    private static func settings(amqp: UInt16, redis: UInt16, apns: UInt16, certificates: String) -> FleetSettings {
        var settings = FleetSettings(
            amqp: ServerSettings(url: "amqp://guest:guest@127.0.0.1:\(amqp)/"),
            redis: ServerSettings(url: "redis://127.0.0.1:\(redis)/0")
        )
        var credential = CredentialSettings(
            name: "main",
            environment: .sandbox,
            teamID: "TEAM123456",
            keyID: "KEY1234567",
            keyFile: "\(certificates)/auth.p8",
            maxConnections: 1
        )
        credential.host = "localhost"
        credential.port = apns
        credential.caFile = "\(certificates)/ca.pem"
        let app = "com.example.shop"
        settings.credentials = [credential]
        settings.apps = [AppSettings(id: app, bundleID: app, credential: "main", retry: .standard)]
        // What goes by the clock is not to be measured.
        settings.amqpHeartbeat = .seconds(300)
        settings.budget.lease = .seconds(300)
        settings.budget.heartbeat = .seconds(50)
        settings.worker.counterInterval = .seconds(60)
        // Then it is written whenever there is enough of it, which counts.
        settings.trail.interval = .seconds(60)
        settings.worker.requestTimeout = .seconds(300)
        return settings
    }

    /// The budget, as the operator declares it: without that a worker waits for as long as a lease may last.
    private static func declare(_ credential: CredentialSettings, redis: UInt16) async throws {
        let session = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: redis))
        defer { session.close() }
        guard let server = await session.server() else { throw NoRedis() }
        let budget = Budget(pool: credential.pool, connections: credential.maxConnections)
        _ = try await session.run(budget.initialize(on: server))
    }

    private struct NoRedis: Error {}
}
