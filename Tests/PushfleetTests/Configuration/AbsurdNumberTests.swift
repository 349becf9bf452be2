internal import Testing

@testable import pushfleet

/// Numbers that are zero, negative or absurd, and things that are there twice.
extension ConfigurationTests {
    static let absurdNumbers: [(section: String, key: String, value: String, says: String)] = [
        ("credential", "max_connections", "0", "1 to 1000"), ("credential", "max_connections", "-1", "1 to 1000"),
        ("credential", "max_connections", "100001", "1 to 1000"),
        ("app", "rate", "0", "1 to 1000000"), ("app", "rate", "-5", "1 to 1000000"),
        ("app", "rate", "1000001", "1 to 1000000"),
        ("app", "rate", "999999999999999999999999", "out of range; it must be 1 to 1000000"),
        ("app", "rate", "1e6", "is not a whole number"), ("app", "rate", "'-'", "is not a whole number"),
        ("app", "weight", "0", "1 to 100"), ("app", "weight", "-1", "1 to 100"), ("app", "weight", "101", "1 to 100"),
        ("app", "bucket_size", "0", "1 to 1000000"), ("app", "bucket_size", "-1", "1 to 1000000"),
        ("budget", "heartbeat", "0s", "100ms to 10m"), ("budget", "heartbeat", "-1s", "is not a duration"),
        ("budget", "heartbeat", "200y", "one of the units"), ("budget", "heartbeat", "999999d", "hundred years"),
        ("budget", "lease", "0s", "1s to 1h"), ("budget", "lease", "2s", "must be at least six heartbeats of 3s"),
        ("budget", "lease", "17s", "must be at least six heartbeats of 3s"),
        ("budget", "quantum", "0s", "1s to 1h"), ("budget", "quantum", "-1s", "is not a duration"),
        ("worker", "loops", "-1", "1 to 64"),
    ]

    @Test("a number that is zero, negative or absurd is refused by name", arguments: Self.absurdNumbers)
    func absurd(section: String, key: String, value: String, says: String) throws {
        let path: String
        var text = self.yaml()
        switch section {
        case "credential":
            path = "credentials.main.\(key)"
            text = text.replacing("max_connections: 4", with: "\(key): \(value)")
        case "app":
            path = "apps.com.example.shop.\(key)"
            text = self.yaml(app: (key == "rate" ? "" : "    rate: 10\n") + "    \(key): \(value)")
        default:
            path = "\(section).\(key)"
            text = self.yaml(rest: "\(section): { \(key): \(value) }")
        }
        let loaded = try self.load(text)
        #expect(loaded.errors.map(\.key) == [path], "\(loaded.problems)")
        #expect(loaded.errors.first?.text.contains(says) == true, "\(loaded.problems)")
        #expect(loaded.errors.first?.line != nil)
    }

    @Test("more loops than connections is a doubt", arguments: [(4, 0), (5, 1), (64, 1)])
    func loops(count: Int, warnings: Int) throws {
        let loaded = try self.load(self.yaml(rest: "worker: { loops: \(count) }"))
        #expect(loaded.errors == [])
        #expect(loaded.warnings.map(\.key) == Array(repeating: "worker.loops", count: warnings))
        let text = loaded.warnings.first?.text ?? "credentials.main.max_connections is 4"
        #expect(text.contains("credentials.main.max_connections is 4"))
    }

    @Test(
        "what stands twice is an error that names both lines",
        arguments: [
            ("apps:\n  a.b:\n    credential: x\n  c: {}\n  # a.b: no\n  \"a.b\":\n    credential: y", "a.b", 2, 6),
            ("apps: {}\nlog:\n  level: info\napps:\n  a: {}", "apps", 1, 4),
            ("log:\n  level: info\n  level: debug", "level", 2, 3),
            ("budget: { lease: 20s, lease: 30s }", "lease", 1, nil),
        ] as [(String, String, Int, Int?)]
    )
    func twice(text: String, key: String, first: Int, second: Int?) throws {
        let loaded = try self.load(text)
        let again = second.map { ", again in line \($0)" } ?? ""
        #expect(
            loaded.errors.map(\.description) == [
                "\(self.folder.path)/c.yaml: has \(key) twice in one section\(again); keep one of them (line \(first))"
            ]
        )
    }
}
