import Logging
import Push
import Testing

@testable import Worker

@Suite struct FleetChangeTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let actions: [FleetChange.Action]
        var before: @Sendable (inout FleetSettings) -> Void = { _ in }
        let change: @Sendable (inout FleetSettings) -> Void
        var testDescription: String { self.name }
    }

    private static let standard: FleetSettings = {
        var settings = FleetSettings(amqp: ServerSettings(url: "amqp://a"), redis: ServerSettings(url: "redis://a"))
        settings.credentials = [Self.credential("main"), Self.credential("other")]
        settings.apps = [Self.app("a", "main"), Self.app("b", "main"), Self.app("c", "other")]
        return settings
    }()

    private static func credential(_ name: String, key: String = "KEY1234567") -> CredentialSettings {
        CredentialSettings(
            name: name,
            environment: .production,
            teamID: "TEAM123456",
            keyID: key,
            keyFile: "\(name).p8",
            maxConnections: 2
        )
    }

    private static func app(_ id: String, _ credential: String) -> AppSettings {
        AppSettings(id: id, bundleID: id, credential: credential, retry: .standard)
    }

    static let rows: [Row] = [
        Row(name: "nothing", actions: []) { _ in },
        Row(name: "what needs a restart is no action", actions: []) {
            $0.amqp.url = "amqp://b"
            $0.redis.url = "redis://b"
            $0.budget.lease = .seconds(60)
            $0.worker.loops = 3
            $0.credentials[0].maxConnections = 9
            $0.credentials[0].host = "elsewhere"
            $0.credentials[0].broadcast = BroadcastHost(host: "broadcasts")
        },
        Row(name: "an app comes", actions: [.addApp("d")]) { $0.apps.append(Self.app("d", "main")) },
        Row(name: "an app goes", actions: [.removeApp("b")]) { $0.apps.remove(at: 1) },
        Row(name: "retry changes", actions: [.changeApp("a")]) {
            $0.apps[0].retry = try! RetrySchedule(
                minBackoff: .seconds(1),
                maxBackoff: .seconds(1),
                maxDoublings: 0,
                ageLimit: .seconds(60)
            )
        },
        Row(name: "breaker changes", actions: [.changeApp("a")]) { $0.apps[0].breaker.threshold = 10 },
        Row(name: "lint changes", actions: [.changeApp("a")]) { $0.apps[0].lint = .strict },
        Row(name: "fit changes", actions: [.changeApp("a")]) { $0.apps[0].fit = .truncate },
        Row(name: "bundle id changes", actions: [.changeApp("a")]) { $0.apps[0].bundleID = "x" },
        Row(name: "an app moves to another credential", actions: [.changeApp("a")]) { $0.apps[0].credential = "other" },
        Row(name: "another key under the same name", actions: [.swapCredential("main")]) {
            $0.credentials[0] = Self.credential("main", key: "KEY7654321")
        },
        Row(
            name: "a credential is renamed: the new one is there before the old one goes",
            actions: [.addCredential("new"), .changeApp("a"), .changeApp("b"), .removeCredential("main")]
        ) {
            $0.credentials[0].name = "new"
            $0.apps[0].credential = "new"
            $0.apps[1].credential = "new"
        },
        Row(
            name: "a credential comes and goes with what is derived from it",
            actions: [
                .removeApp("c"), .addCredential("own"), .addCredential("own.broadcast"), .addApp("d"),
                .removeCredential("other"), .removeCredential("other.broadcast"),
            ],
            before: { $0.credentials[1].broadcast = BroadcastHost(host: "broadcasts") },
            change: {
                var own = Self.credential("own")
                own.broadcast = BroadcastHost(host: "broadcasts")
                $0.credentials[1] = own
                $0.apps[2] = Self.app("d", "own")
            }
        ),
    ]

    @Test("Two configurations make these steps", arguments: Self.rows)
    func steps(_ row: Row) {
        var (old, new) = (Self.standard, Self.standard)
        row.before(&old)
        row.before(&new)
        row.change(&new)
        old.deriveBroadcastCredentials()
        new.deriveBroadcastCredentials()
        let change = FleetChange(from: old, to: new)
        #expect(change.actions == row.actions)
        #expect(change.isEmpty == row.actions.isEmpty)
        #expect(FleetChange(from: change.settings, to: new).isEmpty, "what is done is not done again")
    }

    @Test func `Of a credential that stays only the proof changes; the rest keeps until a restart`() {
        var new = Self.standard
        new.credentials[0] = Self.credential("main", key: "KEY7654321")
        new.credentials[0].maxConnections = 9
        new.credentials[0].host = "elsewhere"
        new.budget.lease = .seconds(60)
        let settings = FleetChange(from: Self.standard, to: new).settings
        #expect(settings.credentials[0].kind == new.credentials[0].kind)
        #expect(settings.credentials[0].maxConnections == 2)
        #expect(settings.credentials[0].host == nil)
        #expect(settings.budget == Self.standard.budget)
    }

    @Test func `Workers of one process, and of containers with equal names, never share an id`() throws {
        var settings = Self.standard
        settings.amqp.url = "amqp://localhost"
        settings.redis.url = "redis://localhost"
        let parts = try (1...64).map { loop in
            try WorkerParts(
                settings,
                credentials: [],
                version: "test",
                host: "host",
                processID: 1,
                loop: loop,
                teller: Teller(Logger(label: "test"), onReady: {})
            )
        }
        #expect(Set(parts.map(\.id)).count == 64)
        #expect(Set(parts.map(\.name)).count == 64)
        #expect(parts[1].name == "host:1.2")
    }
}
