internal import Foundation
internal import Push
internal import Registry
internal import Store
internal import TestServers
internal import Testing
internal import Worker

@testable import pushfleet

/// Which credentials of apps in Redis are used, and what is said of the others.
@Suite struct AppCredentialsTests {
    private static let now = UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    private let keys = try! SealingKeys(String(repeating: "1f", count: 32))
    private let others = try! SealingKeys(String(repeating: "2e", count: 32))

    private static func token(_ keyID: String = "KEY7654321", pem: String? = nil) throws -> StoredCredential {
        let pem = try pem ?? String(contentsOfFile: TestCertificates.shared.signingKey, encoding: .utf8)
        return StoredCredential(
            environment: "sandbox",
            proof: .token(teamID: "TEAM123456", keyID: keyID, key: pem)
        )
    }

    private static func certificate(_ client: TestCertificates.Client) throws -> StoredCredential {
        let certificates = TestCertificates.shared
        let pem = try String(contentsOfFile: certificates.certificate(client), encoding: .utf8)
        let key = try String(contentsOfFile: certificates.key(client), encoding: .utf8)
        return StoredCredential(environment: "sandbox", proof: .certificate(pem, privateKey: key))
    }

    private static func file(_ keyID: String = "KEY1234567") -> CredentialSettings {
        CredentialSettings(
            name: "main",
            environment: .sandbox,
            teamID: "TEAM123456",
            keyID: keyID,
            keyFile: "/k.p8",
            maxConnections: 1
        )
    }

    private func stored(_ credentials: [String: StoredCredential], removed: Set<String> = []) -> StoredApps {
        var apps = StoredApps(
            version: 1,
            values: Dictionary(uniqueKeysWithValues: credentials.keys.map { ($0, #"{"credential":"\#($0)"}"#) }),
            removed: removed
        )
        for (name, credential) in credentials {
            apps.credentials[name] = self.keys.seal(credential, for: name).text
        }
        return apps
    }

    private func judge(_ own: AppCredentials, _ app: String, file: CredentialSettings = Self.file()) -> JudgedApp {
        AppCheck(credentials: [file], loaded: [], own: own).judge(stored: app, #"{"credential":"\#(app)"}"#)
    }

    @Test("apps with the same key share one credential, and one of the file goes first")
    func shared() throws {
        let token = try Self.token()
        let other = try Self.token("KEY1111111")
        let apps = self.stored(["a": token, "b": token, "c": other])
        var own = AppCredentials()
        let isNew = own.take(apps, keys: self.keys, file: [Self.file()], at: Self.now)
        #expect(isNew)
        #expect(own.faults == [:] && own.swapped.isEmpty)
        let pool = "redis.sandbox.TEAM123456.KEY7654321"
        #expect(own.loaded.map(\.settings.name) == ["redis.sandbox.TEAM123456.KEY1111111", pool])
        #expect(own.loaded.map(\.settings.maxConnections) == [10, 10])
        #expect(self.judge(own, "a").settings?.credential == pool)
        #expect(self.judge(own, "b").settings?.credential == pool)
        let unchanged = own.take(apps, keys: self.keys, file: [Self.file()], at: Self.now)
        #expect(!unchanged && own.swapped.isEmpty)
        own.take(apps, keys: self.keys, file: [Self.file("KEY7654321")], at: Self.now)
        #expect(own.names == ["a": "main", "b": "main", "c": "redis.sandbox.TEAM123456.KEY1111111"])
        #expect(own.loaded.count == 1)
        #expect(self.judge(own, "a", file: Self.file("KEY7654321")).settings?.credential == "main")
    }

    @Test("a worker without the master key, or with another, says so and refuses just that app")
    func unopened() throws {
        let apps = self.stored(["a": try Self.token()])
        var own = AppCredentials()
        own.take(apps, keys: nil, file: [Self.file()], at: Self.now)
        let refused = self.judge(own, "a")
        #expect(refused.settings == nil && refused.errors.count == 1)
        #expect(refused.errors.first?.text.contains("no master key") == true)
        #expect(refused.errors.first?.key == "apps.a.credential")
        let check = AppCheck(credentials: [Self.file()], loaded: [], own: own)
        #expect(check.judge(stored: "b", #"{"credential":"main"}"#).settings != nil)
        own.take(apps, keys: self.others, file: [Self.file()], at: Self.now)
        #expect(own.faults["a"]?.contains("was sealed with master key \(self.keys.ids[0])") == true)
        let isOther = own.take(apps, keys: self.keys, file: [Self.file()], at: Self.now)
        #expect(isOther, "the key came")
        #expect(own.faults == [:] && self.judge(own, "a").settings != nil)
    }

    @Test("what cannot be used is refused by what is wrong with it, without showing it")
    func unusable() throws {
        var environment = try Self.token()
        environment.environment = "moon"
        var apps = self.stored([
            "environment": environment, "key": try Self.token(pem: "secret"),
            "expired": try Self.certificate(.expired), "production": try Self.certificate(.production),
            "moved": try Self.token(),
        ])
        apps.credentials["moved"] = self.keys.seal(try Self.token(), for: "elsewhere").text
        apps.values["nonsense"] = "{}"
        apps.credentials["nonsense"] = "secret"
        var own = AppCredentials()
        own.take(apps, keys: self.keys, file: [], at: Self.now)
        #expect(own.loaded.isEmpty && own.faults.count == 6)
        for (name, words) in [
            "environment": "environment", "key": "not a P-256 private key", "expired": "expired on",
            "production": "is for production only", "moved": "sealed for another app",
            "nonsense": "not a sealed credential",
        ] {
            #expect(own.faults[name]?.contains(words) == true, "\(name): \(own.faults[name] ?? "")")
            #expect(own.faults[name]?.contains("secret") == false)
        }
    }

    @Test("a new certificate is swapped in; a bad one leaves the old one, and so does a Redis that lost everything")
    func swapped() throws {
        var own = AppCredentials()
        func take(_ apps: StoredApps) -> Bool { own.take(apps, keys: self.keys, file: [], at: Self.now) }
        #expect(take(self.stored(["a": try Self.certificate(.standard)])))
        let name = try #require(own.loaded.first?.settings.name)
        #expect(take(self.stored(["a": try Self.certificate(.renewed)])))
        #expect(own.swapped.map(\.settings.name) == [name])
        #expect(take(self.stored(["a": try Self.certificate(.expired)])))
        #expect(own.loaded.map(\.settings.name) == [name] && own.swapped.isEmpty && own.faults.count == 1)
        #expect(take(self.stored(["a": try Self.certificate(.renewed)])))
        _ = take(StoredApps())
        #expect(own.loaded.count == 1)
        _ = take(StoredApps(version: 2, removed: ["a"]))
        #expect(own.loaded.isEmpty)
    }
}
