import Foundation
import Push
import TestServers
import Testing

@testable import Gateway
@testable import Registry
@testable import Store

/// What becomes of applications whose credentials Apple refuses.
@Suite struct CredentialTests {
    private static let name = ApplicationName(platform: "APNS", name: "Shop")
    private static let now = UnixTime(seconds: 1_767_225_600)

    private static func pause(_ field: String, state: Int = 1, cause: String, left: Duration) throws -> AppPause {
        let ends = Self.now + left
        let value = "\(state) \(cause) 1 \(ends.milliseconds) 1 - 0 0 host:1\t"
        return try #require(AppPause(field: field, value: value, time: Self.now))
    }

    @Test(
        "an application is disabled by a refused credential, not before new ones had their chance",
        arguments: [
            ("fault:sns.apns.Shop", 1, "credential", 10, nil, true),
            ("fault:sns.apns.Shop", 1, "credential", 10, 60, true),
            // Just enabled, or given new credentials.
            ("fault:sns.apns.Shop", 1, "credential", 10, 3, false),
            // The next push shows.
            ("fault:sns.apns.Shop", 1, "credential", 0, nil, false),
            ("fault:sns.apns.Shop", 0, "credential", 10, nil, false),
            ("fault:sns.apns.Shop", 1, "suspects", 10, nil, false),
            ("hand:sns.apns.Shop", 1, "hand", 10, nil, false),
            ("fault:com.example.shop", 1, "credential", 10, nil, false),
        ] as [(String, Int, String, Int, Int?, Bool)]
    )
    func rule(field: String, state: Int, cause: String, left: Int, enabled: Int?, disables: Bool) throws {
        let pause = try Self.pause(field, state: state, cause: cause, left: .seconds(left))
        var attributes = ["Enabled": "true"]
        if let enabled {
            attributes[CredentialRefusal.enabledAt] = "\((Self.now - .seconds(enabled)).milliseconds)"
        }
        for isEnabled in ["true", "false"] {
            attributes["Enabled"] = isEnabled
            let application = PlatformApplication(
                name: Self.name,
                attributes: attributes,
                createdAt: Self.now,
                endpoints: 0
            )
            let expected = disables && isEnabled == "true"
            #expect(CredentialRefusal.disables(pause, application, at: Self.now) == expected)
        }
    }

    private static func tell(_ order: PausedApps.Order, _ test: TestGateway) async throws -> AppPause? {
        let result: Result<RedisReply, RedisFailure> = await test.gateway.desk.ask { core, completion in
            core.redis.run(PausedApps.call(order, app: TestGateway.app, by: "w", name: "h:1"), completion)
        }
        return PausedApps.answer(try result.get())?.first
    }

    private static func isEnabled(_ application: String, _ test: TestGateway) async throws -> Bool {
        let answer = try await test.call(
            "GetPlatformApplicationAttributes",
            ["PlatformApplicationArn": application]
        )
        #expect(!answer.text.contains("pushfleet."))
        return answer.text.contains("<key>Enabled</key><value>true</value>")
    }

    @Test("while Apple refuses its credentials an application is disabled; enabled again, the next push shows")
    func disabled() async throws {
        let test = try await TestGateway.start()
        let application = try await test.makeApplication()
        let endpoint = try await test.makeEndpoint("aa01", of: application)
        // Long ago.
        let aged: Bool = await test.gateway.desk.ask { core, completion in
            core.registry.setApplication(Self.name, attributes: [CredentialRefusal.enabledAt: "1000"]) { result in
                completion((try? result.get()) == .changed)
            }
        }
        try #require(aged)
        let pause = PausedApps.Order.pause(cause: "credential", wait: .seconds(300), pauses: 1, since: nil)
        _ = try await Self.tell(pause, test)
        try await eventually("it is disabled") { try await !Self.isEnabled(application, test) }
        let refused = try await test.call("Publish", ["TargetArn": endpoint, "Message": "x"])
        #expect(refused.status == 400 && refused.element("Code") == "PlatformApplicationDisabled")
        let enabled = try await test.call(
            "SetPlatformApplicationAttributes",
            [
                "PlatformApplicationArn": application, "Attributes.entry.1.key": "Enabled",
                "Attributes.entry.1.value": "true",
            ]
        )
        #expect(enabled.status == 200)
        #expect(try await Self.isEnabled(application, test))
        // Asked for as a worker would.
        try await eventually("the next push may go") {
            try await Self.tell(.yield(since: UnixTime(milliseconds: 1)), test)?.left == .zero
        }
        #expect(try await test.call("Publish", ["TargetArn": endpoint, "Message": "x"]).status == 200)
        await test.gateway.stop()
    }
}
