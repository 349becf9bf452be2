internal import Registry
internal import Testing

@testable import pushfleet

@Suite struct MasterKeyTests {
    private static let key = String(repeating: "5c", count: 32)

    private static func load(
        _ lines: String,
        environment: [String: String] = [:],
        _ folder: TestFolder
    ) throws -> LoadedConfiguration {
        let text = """
            amqp: { url: "amqp://localhost" }
            redis:
              url: redis://localhost
            \(lines)
            credentials:
              main: { environment: sandbox, team_id: TEAM123456, key_id: KEY1234567, key_file: \(try folder.writeKey()), \
            max_connections: 1 }
            apps:
              com.example.shop: { credential: main }
            """
        let file = try folder.write("c.yaml", text)
        return ConfigurationLoader(environment: environment).load(option: file, needs: [.servers, .keys])
    }

    @Test("the master key comes from the file, a file it names, or the environment")
    func sources() throws {
        let folder = try TestFolder()
        let none = try Self.load("", folder)
        #expect(none.problems == [] && none.masterKeys == nil)
        let given = try Self.load("  master_key: \(Self.key)", folder)
        #expect(given.problems == [] && given.masterKeys?.ids.count == 1)
        #expect(given.effective.allSatisfy { !$0.value.contains(Self.key) })
        let other = String(repeating: "6d", count: 32)
        let path = try folder.write("master", "\(other)\n\(Self.key)\n")
        let named = try Self.load("  master_key_file: \(path)", folder)
        #expect(named.problems == [] && named.masterKeys?.ids.count == 2)
        #expect(named.masterKeys?.ids.last == given.masterKeys?.ids.first)
        let variable = try Self.load("", environment: ["PUSHFLEET_REDIS_MASTER_KEY": Self.key], folder)
        #expect(variable.problems == [] && variable.masterKeys?.ids == given.masterKeys?.ids)
    }

    @Test(
        "one that cannot be used is an error by name, which does not show it",
        arguments: [
            ("  master_key: 5c5c5c5c", "redis.master_key", "line 1 is not a key of 32 bytes"),
            ("  master_key_file: /nowhere", "redis.master_key_file", "/nowhere cannot be read"),
            ("  master_key: \(key)\n  master_key_file: /nowhere", "redis.master_key_file", "stands beside"),
        ]
    )
    func faults(_ lines: String, _ place: String, _ words: String) throws {
        let loaded = try Self.load(lines, try TestFolder())
        #expect(loaded.masterKeys == nil && loaded.errors.map(\.key) == [place])
        #expect(loaded.errors.first?.text.contains(words) == true)
        #expect(loaded.errors.first?.text.contains("5c5c5c5c") == false)
    }
}
