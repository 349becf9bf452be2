import Testing

@testable import pushfleet

@Suite struct ConfigurationReloadTests {
    @Test("a file that changes is acted on when a second look finds the same, and once")
    func fileWatch() {
        var watch = FileWatch(inUse: [1])
        for content in [[1], [2], [3]] as [[UInt8]?] { #expect(watch.looked(content) == false) }
        #expect(watch.looked([3]) == true)
        #expect(watch.looked([3]) == false)
        #expect(watch.looked(nil) == false)
        #expect(watch.looked(nil) == true, "a file that is gone is a change too")
        #expect(watch.looked([3]) == false)
        #expect(watch.looked([3]) == true, "and so is its return")
    }

    private static let before = [
        ("amqp.heartbeat", "10s"), ("worker.loops", "1"), ("apps.a.b.credential", "main"),
        ("credentials.main.key_id", "KEY1234567"), ("credentials.main.max_connections", "4"),
        ("credentials.com.example.max_connections", "2"), ("credentials.com.example.key_file", "a.p8"),
    ]

    @Test(
        "keys that need a restart are named, and no others",
        arguments: [
            (["amqp.heartbeat": "20s", "worker.loops": "2"], ["amqp.heartbeat", "worker.loops"]),
            (["apps.a.b.credential": "other", "apps.new.bundle_id": "x"], []),
            (["credentials.main.key_id": "KEY7654321", "credentials.com.example.key_file": "b.p8"], []),
            (["credentials.main.max_connections": "5"], ["credentials.main.max_connections"]),
            (["credentials.com.example.max_connections": "5"], ["credentials.com.example.max_connections"]),
            (["credentials.new.max_connections": "5", "credentials.new.host": "x"], []),
        ] as [([String: String], [String])]
    )
    func restart(_ changes: [String: String], _ keys: [String]) {
        let values = { (pairs: [String: String]) in
            pairs.map { EffectiveValue(key: $0.key, value: $0.value, origin: .file) }
        }
        let before = Dictionary(uniqueKeysWithValues: Self.before)
        let after = before.merging(changes) { $1 }
        #expect(RestartKeys.changed(from: values(before), to: values(after)) == keys)
    }

    @Test("a credential that is gone needs no restart")
    func gone() {
        let value = { EffectiveValue(key: $0, value: "1", origin: .file) }
        let before = [value("credentials.a.max_connections"), value("credentials.b.port")]
        #expect(RestartKeys.changed(from: before, to: [value("credentials.b.port")]) == [])
    }

    @Test("--loops is a number from 1 to 64, and the error names it", arguments: [-1, 0, 1, 64, 65])
    func loops(_ count: Int) {
        let problem = WorkerVerb.problem(loops: count)
        #expect((problem == nil) == (count == 1 || count == 64))
        #expect(problem?.contains("--loops must be a number from 1 to 64, but is \(count)") ?? true)
    }

    @Test("the last one to report calls back, once")
    func countdown() async {
        await confirmation { confirm in
            let countdown = Countdown(3) { confirm() }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { countdown.count() } }
            }
        }
    }
}
