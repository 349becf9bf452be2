import Broker
import Push
import Simulator
import TestServers
import Testing
import Worker

extension EndToEnd {
    /// Apps and credentials that come, change and go while others run.
    @Suite struct AppChanges {
        private static let news = "com.example.news"

        private static func options(latency: Duration, hasKeyPerApp: Bool = false) -> Fleet.Options {
            var options = Fleet.Options()
            options.apps = [Fleet.app, Self.news]
            options.latency = latency
            options.hasKeyPerApp = hasKeyPerApp
            return options
        }

        @Test(
            "An app is added while another is under load: nothing is sent twice, and no connection is replaced",
            arguments: [false, true]
        )
        func added(withKey: Bool) async throws {
            try await Fleet.run(Self.options(latency: .milliseconds(50), hasKeyPerApp: withKey)) { fleet in
                let both = fleet.settings
                var alone = both
                alone.apps.removeAll { $0.id == Self.news }
                if withKey { alone.credentials.removeLast() }
                let worker = try await fleet.startWorker { $0 = alone }
                try await fleet.publish(0..<100, of: Self.news)
                try await fleet.publish(0..<1000, of: Fleet.app)
                try await fleet.accepted(100)
                let before = try await fleet.simulator.connections().map(\.number)
                try worker.change(from: alone, to: both)
                for part in 1..<4 { try await fleet.publish(part * 1000..<(part + 1) * 1000, of: Fleet.app) }
                try await fleet.publish(100..<300, of: Self.news)
                try await fleet.accepted(4300)
                try await eventually("all are answered") { try await fleet.pushes(of: Self.news) == 300 }
                let summary = try await fleet.simulator.summary()
                #expect(summary.duplicates == 0 && summary.requests == 4300)
                let connections = try await fleet.simulator.connections()
                #expect(!before.isEmpty && before.allSatisfy { number in connections.contains { $0.number == number } })
                #expect(connections.allSatisfy { $0.closedAt == nil })
                #expect(summary.connectionsByKey.values.allSatisfy { $0.peak <= 2 })
                print(
                    "APPS added (own key: \(withKey)): \(summary.accepted) accepted, \(summary.duplicates) duplicates, "
                        + "\(connections.count { $0.closedAt != nil }) connections closed"
                )
                try await fleet.expectNothingLeft()
            }
        }

        @Test("An app is removed with messages in flight: they have their end, the rest stays, nothing is lost")
        func removed() async throws {
            try await Fleet.run(Self.options(latency: .seconds(1))) { fleet in
                let both = fleet.settings
                var alone = both
                alone.apps.removeAll { $0.id == Self.news }
                let worker = try await fleet.startWorker()
                try await fleet.publish(0..<20, of: Self.news)
                try await fleet.accepted(20)
                try await fleet.publish(20..<3000, of: Self.news)
                try await fleet.publish(0..<1000, of: Fleet.app)
                let queue = "pushfleet.\(Self.news).now"
                var inFlight = 0
                try await eventually("many are in flight") {
                    let summary = try await fleet.simulator.summary()
                    inFlight = summary.requests - summary.answered
                    return inFlight >= 200
                }
                try worker.change(from: both, to: alone)
                try await eventually("nobody consumes the removed app") {
                    try await fleet.session.queueDepths([queue])[queue]?.consumers == 0
                }
                try await fleet.publish(3000..<3100, of: Self.news)
                var rest = 0
                try await eventually("what was in flight is settled") {
                    rest = try await fleet.depth(queue)
                    return try await fleet.pushes(of: Self.news) + rest == 3100
                }
                #expect(rest >= 100)
                try await eventually("the other app goes on") { try await fleet.pushes(of: Fleet.app) == 1000 }
                let counted = try fleet.redis.cli("HGET", "pf:{counters}:of:now:\(Self.news)", "received")
                #expect(Int(counted.trimmed) ?? 0 > 0, "counters stay")
                try worker.change(from: alone, to: both)
                try await fleet.accepted(4100)
                let summary = try await fleet.simulator.summary()
                #expect(summary.duplicates == 0 && summary.requests == 4100)
                print(
                    "APPS removed: \(inFlight) in flight, \(rest) left in the queue, \(summary.duplicates) duplicates"
                )
                try await fleet.expectNothingLeft()
            }
        }

        @Test("A changed retry schedule holds for what is received afterwards, once its delay queues are declared")
        func changedSchedule() async throws {
            try await Fleet.run(Self.options(latency: .milliseconds(500))) { fleet in
                let before = fleet.settings
                var after = before
                // The other app's name sorts first.
                let index = try #require(after.apps.firstIndex { $0.id == Fleet.app })
                after.apps[index].retry = try RetrySchedule(
                    minBackoff: .seconds(37),
                    maxBackoff: .seconds(37),
                    maxDoublings: 0,
                    ageLimit: .seconds(600)
                )
                let level = try #require(after.apps[index].retry.distinctDelays().first)
                let worker = try await fleet.startWorker()
                try await fleet.answer(503, "ServiceUnavailable", to: "503a", limit: 1)
                try worker.change(from: before, to: after)
                // Its delay queue is not there: the old settings go on.
                let first = Draft.token(1, prefix: "503a")
                try await fleet.publish(Draft(first), messageID: "first")
                _ = try await fleet.delivered(first)
                #expect(try await fleet.requests(to: first).count == 2)
                let apps = after.apps.compactMap { AppID($0.id) }
                let levels = DelayLadder(schedules: after.apps.map(\.retry)).levels
                #expect(try await fleet.session.declare(FleetTopology.make(apps: apps, delays: levels)).isEmpty)
                var number = 0
                try await eventually("a retry goes through the new delay queue") {
                    number += 1
                    // One for each, so that Apple does not look as if it were down.
                    let token = Draft.token(1, prefix: "503b\(1000 + number)")
                    try await fleet.answer(503, "ServiceUnavailable", to: "503b\(1000 + number)", limit: 1)
                    try await fleet.publish(Draft(token), messageID: "later-\(number)")
                    try await eventually("it was tried") { try await !fleet.requests(to: token).isEmpty }
                    return try await fleet.depth(level.queueName) > 0
                }
                // What is at Apple during the change ends under the old schedule.
                try await fleet.answer(503, "ServiceUnavailable", to: "503c", limit: 1)
                let between = Draft.token(1, prefix: "503c")
                try await fleet.publish(Draft(between), messageID: "between")
                try await eventually("it is at Apple") { try await !fleet.requests(to: between).isEmpty }
                try worker.change(from: after, to: before)
                var waited: [String] = []
                try await eventually("it waits in the new delay queue") {
                    while let delivery = try await fleet.session.get(queue: level.queueName) {
                        try await fleet.session.ack(delivery.id)
                        waited.append(delivery.messageText)
                    }
                    return waited.contains("between")
                }
                #expect(try await fleet.requests(to: between).count == 1)
                #expect(!waited.contains("first"))
                let last = Draft.token(1, prefix: "1a57")
                try await fleet.answer(503, "ServiceUnavailable", to: "1a57", limit: 1)
                try await fleet.publish(Draft(last), messageID: "last")
                _ = try await fleet.delivered(last)
            }
        }

        @Test("An app that changes again and again under load loses nothing and sends nothing twice")
        func changedUnderLoad() async throws {
            try await Fleet.run(Self.options(latency: .milliseconds(100))) { fleet in
                let worker = try await fleet.startWorker()
                var settings = fleet.settings
                try await fleet.publish(0..<5000, of: Fleet.app)
                for round in 1...8 {
                    try await fleet.accepted(round * 500)
                    var next = settings
                    for index in next.apps.indices where next.apps[index].id == Fleet.app {
                        next.apps[index].lint = round % 2 == 0 ? .off : .strict
                    }
                    try worker.change(from: settings, to: next)
                    settings = next
                }
                try await eventually("all are accepted") { try await fleet.pushes(of: Fleet.app) == 5000 }
                let summary = try await fleet.simulator.summary()
                let counted = try fleet.redis.cli("HGET", "pf:{counters}:of:now:\(Fleet.app)", "given_back").trimmed
                #expect(summary.duplicates == 0 && summary.requests == 5000)
                #expect(Int(counted) ?? 0 > 0, "messages were under way while it changed")
                #expect(try await fleet.simulator.connections().allSatisfy { $0.closedAt == nil })
                print("APPS changed 8 times: \(counted) given back, \(summary.duplicates) duplicates")
                try await fleet.expectNothingLeft()
            }
        }

        @Test("A new app whose queues are not there is taken up when they are declared; the other one does not notice")
        func undeclared() async throws {
            try await Fleet.run { fleet in
                var both = fleet.settings
                var app = both.apps[0]
                (app.id, app.bundleID) = (Self.news, Self.news)
                both.apps.append(app)
                let worker = try await fleet.startWorker()
                try worker.change(from: fleet.settings, to: both)
                try await fleet.publish(0..<50, of: Fleet.app)
                try await fleet.accepted(50)
                let levels = DelayLadder(schedules: both.apps.map(\.retry)).levels
                let apps = both.apps.compactMap { AppID($0.id) }
                #expect(try await fleet.session.declare(FleetTopology.make(apps: apps, delays: levels)).isEmpty)
                try await fleet.publish(0..<50, of: Self.news)
                try await fleet.accepted(100)
                #expect(try await fleet.simulator.connections().allSatisfy { $0.closedAt == nil })
                try await fleet.expectNothingLeft()
            }
        }

        @Test("A credential goes, comes back and is renamed: its apps send again each time, inside one budget")
        func credentials() async throws {
            try await Fleet.run(Self.options(latency: .milliseconds(100), hasKeyPerApp: true)) { fleet in
                let both = fleet.settings
                // Whose budget is to go and to come back.
                let key = try #require(both.apps.first { $0.id == Self.news }?.credential)
                var alone = both
                alone.apps.removeAll { $0.id == Self.news }
                alone.credentials.removeAll { $0.name == key }
                var renamed = both
                for index in both.credentials.indices where both.credentials[index].name == key {
                    renamed.credentials[index].name = "renamed"
                }
                for index in both.apps.indices where both.apps[index].id == Self.news {
                    renamed.apps[index].credential = "renamed"
                }
                let worker = try await fleet.startWorker()
                try await fleet.publish(0..<200, of: Self.news)
                try await fleet.accepted(200)
                try await fleet.publish(200..<600, of: Self.news)
                try worker.change(from: both, to: alone)
                try await eventually("connections with the removed key are closed") {
                    try await fleet.simulator.connections().contains { $0.closedAt != nil }
                }
                try worker.change(from: alone, to: both)
                try await fleet.accepted(600)
                try await fleet.publish(600..<1000, of: Self.news)
                try worker.change(from: both, to: renamed)
                try await fleet.publish(0..<200, of: Fleet.app)
                try await fleet.accepted(1200)
                let summary = try await fleet.simulator.summary()
                #expect(summary.duplicates == 0)
                #expect(summary.connectionsByKey.values.allSatisfy { $0.peak <= 2 })
                try await fleet.expectNothingLeft()
            }
        }
    }
}

extension Worker {
    /// What the process does when the configuration has changed.
    func change(from old: FleetSettings, to new: FleetSettings) throws {
        let change = FleetChange(from: old, to: new)
        let added = change.settings.credentials.filter { change.actions.contains(.addCredential($0.name)) }
        try #require(!change.isEmpty)
        self.apply(change, credentials: try added.map { try LoadedCredential.load($0, at: .now) })
    }
}

extension String {
    fileprivate var trimmed: String { String(self.prefix { $0.isNumber }) }
}
