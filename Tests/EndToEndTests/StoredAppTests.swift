import Broker
import Foundation
import Push
import Simulator
import Store
import Synchronization
import TestServers
import Testing
import Worker

extension EndToEnd {
    /// Apps that live in Redis, put there by the verb, beside one of the file that must not notice.
    @Suite struct StoredApps {
        private static let news = "com.example.news"
        private static let broken = "com.example.broken"

        @Test func `An app in Redis comes, changes, breaks, gets lost and goes; another one does not notice`()
            async throws
        {
            let folder = try Repository.makeTemporaryDirectory("stored-apps")
            defer { Repository.remove(folder) }
            var options = Fleet.Options()
            options.latency = .milliseconds(20)
            try await Fleet.run(options) { fleet in
                let path = try fleet.writeConfiguration(in: folder)
                func run(_ arguments: String...) async throws -> WorkerBinary.Outcome {
                    try await WorkerBinary.run(arguments + ["--config", path], in: folder)
                }
                let worker = try WorkerBinary(["worker", "--config", path], in: folder)
                try await eventually("the worker is ready") { worker.isReady }
                try await fleet.publish(0..<100, of: Fleet.app)
                try await fleet.accepted(100)
                let before = try await fleet.simulator.connections().map(\.number).sorted()

                // The other app sends all the while.
                let isOver = Mutex(false)
                let load = Task {
                    var number = 100
                    while !isOver.withLock({ $0 }) {
                        try await fleet.publish(number..<number + 20, of: Fleet.app)
                        number += 20
                        try await Task.sleep(for: .milliseconds(100))
                    }
                    return number
                }
                defer { isOver.withLock { $0 = true } }

                // It comes, with its queues.
                let wrong = try await run("app", "put", Self.news, "credential=mian")
                #expect(wrong.status == 78 && wrong.output.contains("did you mean main?"), "\(wrong.output)")
                #expect(try fleet.redis.cli("EXISTS", Keys.apps) == "0")
                let undeclared = try await run("app", "put", Self.news, "credential=main", "retry.min_backoff=13s")
                #expect(undeclared.status == 0 && undeclared.output.contains("queue pushfleet.delay.13s"))
                #expect(undeclared.output.contains("pushfleet topology declare"), "\(undeclared.output)")
                try await eventually("the worker says what is missing", within: .seconds(60)) {
                    worker.output.contains("A new app waits for its delay queues")
                }
                let put = try await run("app", "put", Self.news, "credential=main", "--declare")
                #expect(put.status == 0 && put.output.contains("is changed"), "\(put.output)")
                try await fleet.publish(0..<100, of: Self.news)
                try await eventually("its pushes arrive") { try await fleet.pushes(of: Self.news) == 100 }
                let send = try await run(
                    "send",
                    "--app",
                    Self.news,
                    "--lane",
                    "now",
                    "--token",
                    Draft.token(1, prefix: "cccc"),
                    "--alert",
                    "x"
                )
                #expect(send.status == 0, "\(send.output)")
                try await eventually("so does the one of the verb") { try await fleet.pushes(of: Self.news) == 101 }
                let list = try await run("app", "list", "--json")
                let apps = try Self.apps(list.output)
                #expect(apps == ["\(Self.news) redis ok", "\(Fleet.app) file ok"])
                #expect(try await run("topology", "verify").status == 0)

                // It changes: a rate that holds back what comes after.
                let rate = try await run("app", "put", Self.news, "credential=main", "rate=5", "bucket_size=5")
                #expect(rate.status == 0, "\(rate.output)")
                try await eventually("the worker knows the rate") {
                    worker.output.contains("An app has changed") && worker.output.contains("app \(Self.news) changed")
                }
                let start = ContinuousClock.now
                try await fleet.publish(200..<230, of: Self.news)
                try await eventually("the slow ones arrive") { try await fleet.pushes(of: Self.news) == 131 }
                // 30 pushes at 5/s with a bucket of 5 take five seconds; Apple's side of it is judged elsewhere.
                #expect(ContinuousClock.now - start >= .milliseconds(4500))

                // A broken one beside it is refused by name, and it goes on.
                try fleet.redis.cli("HSET", Keys.apps, Self.broken, #"{"credential":"main","rate":0}"#)
                try fleet.redis.cli("HSET", Keys.apps, Self.news, #"{"credential":"nobody"}"#)
                try fleet.redis.cli("INCR", Keys.appsVersion)
                try await eventually("both are refused") {
                    worker.output.contains("redis: apps.\(Self.broken).rate: \"0\" is out of range")
                        && worker.output.contains(
                            "redis: apps.\(Self.news).credential: \"nobody\" is not in credentials"
                        )
                }
                try await fleet.publish(300..<305, of: Self.news)
                try await eventually("it goes on with the good values") {
                    try await fleet.pushes(of: Self.news) == 136
                }
                let doctor = try await run("doctor", "--json")
                #expect(doctor.output.contains("apps.\(Self.broken).rate: "), "\(doctor.output)")

                // Redis loses everything: nobody removed it.
                try fleet.redis.cli("FLUSHALL")
                try await eventually("the worker warns") {
                    worker.output.contains("redis: apps.\(Self.news): warning: is gone, though nobody removed it")
                }
                try await fleet.publish(400..<405, of: Self.news)
                try await eventually("it still goes on") { try await fleet.pushes(of: Self.news) == 141 }
                #expect(try await Self.apps(run("app", "list", "--json").output) == ["\(Fleet.app) file ok"])

                // It goes, by the word of an operator.
                let unasked = try await run("app", "remove", Self.news)
                #expect(unasked.status == 64 && unasked.output.contains("--yes"), "\(unasked.output)")
                let removed = try await run("app", "remove", Self.news, "--yes")
                #expect(removed.status == 0 && removed.output.contains("was not in Redis"), "\(removed.output)")
                let queue = "pushfleet.\(Self.news).now"
                try await eventually("nobody consumes it") {
                    try await fleet.session.queueDepths([queue])[queue]?.consumers == 0
                }
                try await fleet.publish(500..<510, of: Self.news)
                #expect(try await fleet.depth(queue) == 10)
                #expect(try await fleet.pushes(of: Self.news) == 141)

                isOver.withLock { $0 = true }
                let count = try await load.value
                try await eventually("the other app has lost nothing") {
                    try await fleet.pushes(of: Fleet.app) == count
                }
                let summary = try await fleet.simulator.summary()
                #expect(summary.duplicates == 0 && summary.requests == count + 141)
                let connections = try await fleet.simulator.connections()
                // A second connection may have come with the load and gone with it.
                let first = connections.min { $0.number < $1.number }
                #expect(first.map { [$0.number] } == before.prefix(1).map { [$0] }.first)
                #expect(first?.closedAt == nil, "\(connections)\n\(worker.output)")
                print("APPS in Redis: \(count) of the other app, \(summary.duplicates) twice, on its first connection")
                worker.signal(SIGTERM)
                #expect(try await worker.end().status == 0)
                _ = try await fleet.take(10, from: queue)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A worker whose file has no app takes up those in Redis, and warns of a Redis that evicts`()
            async throws
        {
            let folder = try Repository.makeTemporaryDirectory("stored-alone")
            defer { Repository.remove(folder) }
            try await Fleet.run { fleet in
                try fleet.redis.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
                let path = try fleet.writeConfiguration(in: folder) { text in
                    String(text[..<text.range(of: "apps:")!.lowerBound])
                }
                let put = try await WorkerBinary.run(
                    ["app", "put", Fleet.app, "credential=main", "--declare", "--config", path],
                    in: folder
                )
                #expect(put.status == 0 && put.output.contains("is in Redis"), "\(put.output)")
                let worker = try WorkerBinary(["worker", "--loops", "3", "--config", path], in: folder)
                try await eventually("the worker has a connection") { worker.isReady }
                try await fleet.publish(0..<50, of: Fleet.app)
                try await fleet.accepted(50)
                #expect(worker.output.contains("apps: warning: names no app"), "\(worker.output)")
                #expect(worker.output.contains("warning: --loops is 3, but credentials.main.max_connections is 2"))
                #expect(worker.output.contains("maxmemory-policy=allkeys-lru"), "\(worker.output)")
                #expect(worker.output.components(separatedBy: "maxmemory-policy=").count == 2, "told once")
                // The file takes it over: that goes before Redis.
                let text = try String(contentsOfFile: path, encoding: .utf8)
                try (text + "apps: { \(Fleet.app): { credential: main } }\n").write(
                    toFile: path,
                    atomically: true,
                    encoding: .utf8
                )
                try await eventually("the worker tells which counts") {
                    worker.output.contains("redis: apps.\(Fleet.app): warning: stands in \(path) too")
                }
                try await fleet.publish(50..<100, of: Fleet.app)
                try await fleet.accepted(100)
                worker.signal(SIGTERM)
                #expect(try await worker.end().status == 0)
                #expect(try await fleet.simulator.summary().duplicates == 0)
                try await fleet.expectNothingLeft()
            }
        }

        /// Each app as `id source state`.
        private static func apps(_ output: String) throws -> [String] {
            // What verbs say goes to the same file, before the data.
            let start = try #require(output.range(of: "{\n"))
            let json = try JSONSerialization.jsonObject(with: Data(output[start.lowerBound...].utf8)) as? [String: Any]
            return try #require(json?["apps"] as? [[String: Any]]).map { app in
                ["app", "source", "state"].map { app[$0] as? String ?? "" }.joined(separator: " ")
            }
        }
    }
}
