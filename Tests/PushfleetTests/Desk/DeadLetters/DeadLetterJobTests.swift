import Broker
import Push
import Synchronization
import TestServers
import Testing

@testable import Desk

/// Jobs against a real RabbitMQ; what workers make of replays is tested with workers.
@Suite struct DeadLetterJobTests {
    private static let rules = ReplayRulesTests.rules
    private static let work = "pushfleet.\(DeadQueue.app).now"

    private static func ids(_ queue: DeadQueue) async throws -> [DeadLetterID] {
        try await queue.desk.look().letters.map(\.id)
    }

    @Test func `Chosen letters are replayed, others stay, and so does what is still bad, with its reason`() async throws
    {
        let queue = try await DeadQueue()
        try await queue.publish((0..<100).map { DeadQueue.letter($0) })
        try await queue.publish((100..<110).map { DeadQueue.letter($0, body: "{") })
        try await queue.publish([DeadQueue.letter(200, app: "unknown")])
        let letters = try await queue.desk.look().letters
        let chosen = letters.filter { $0.messageID != Array("order-5".utf8) }
        let report = await queue.desk.replay(Set(chosen.map(\.id)), rules: Self.rules, rate: 100_000)
        #expect(report.total == 110 && report.done == 99 && report.refused == 11 && report.failed == 0)
        #expect(report.missing == 0 && !report.isComplete && report.failure == nil && !report.isStopped)
        #expect(report.problems.map(\.count) == [10, 1])
        #expect(report.problems.map(\.refusal.reason) == [.invalidJSON, .unknownApp])
        #expect(try await Self.ids(queue).count == 12)
        let replayed = try await queue.drain(Self.work)
        #expect(Set(replayed.map(\.messageID)).count == 99)
        #expect(replayed.allSatisfy { $0.headers.replay != nil && $0.headers.once != nil && $0.headers.attempt == 0 })
        #expect(Set(replayed.compactMap(\.headers.once)).count == 99)
        #expect(replayed.allSatisfy { $0.headers.firstSeen == nil && $0.headers.copy == 5 })
        await queue.session.close()
    }

    @Test func `A purge takes exactly what was chosen, and what is not there is told`() async throws {
        let queue = try await DeadQueue()
        try await queue.publish((0..<2500).map { DeadQueue.letter($0) })
        let all = try await Self.ids(queue)
        let gone = try #require(DeadLetterID("00112233445566778899aabb"))
        let report = await queue.desk.purge(Set(all.prefix(2400) + [gone]))
        #expect(report.done == 2400 && report.missing == 1 && report.total == 2401 && !report.isComplete)
        #expect(try await Self.ids(queue) == Array(all.suffix(100)))
        #expect(await queue.desk.purge([]).isComplete)
        #expect(await queue.desk.purge(Set(all.suffix(100))).isComplete)
        #expect(try await queue.desk.look().ready == 0)
        await queue.session.close()
    }

    @Test func `A replay that is told to stop leaves the rest in its place, and goes on when it is run again`()
        async throws
    {
        let queue = try await DeadQueue()
        try await queue.publish((0..<1000).map { DeadQueue.letter($0) })
        let ids = Set(try await Self.ids(queue))
        let stop = StopSwitch()
        let words = Atomic<Int>(0)
        let report = await queue.desk.replay(ids, rules: Self.rules, rate: 200, stop: stop) { report in
            words.add(1, ordering: .relaxed)
            if report.done >= 20 { stop.stop() }
        }
        #expect(report.isStopped && report.done >= 20 && report.done < 1000)
        #expect(words.load(ordering: .relaxed) > 0)
        #expect(try await Self.ids(queue).count == 1000 - report.done)
        let rest = await queue.desk.replay(ids, rules: Self.rules, rate: 100_000)
        #expect(rest.done == 1000 - report.done && rest.missing == report.done)
        #expect(Set(try await queue.drain(Self.work).map(\.messageID)).count == 1000)
        await queue.session.close()
    }

    @Test func `A job that outlasts its round lets go of all letters and goes on`() async throws {
        let queue = try await DeadQueue()
        try await queue.publish((0..<60).map { DeadQueue.letter($0) })
        var desk = queue.desk
        desk.roundTime = .milliseconds(300)
        let report = await desk.replay(Set(try await Self.ids(queue)), rules: Self.rules, rate: 50)
        #expect(report.isComplete && report.done == 60)
        #expect(try await queue.drain(Self.work).count == 60)
        await queue.session.close()
    }

    @Test func `A letter that is there twice is one of those that were chosen, and each publish has its own mark`()
        async throws
    {
        let queue = try await DeadQueue()
        try await queue.publish([DeadQueue.letter(1), DeadQueue.letter(1)])
        let report = await queue.desk.replay(Set(try await Self.ids(queue)), rules: Self.rules, rate: 100)
        #expect(report.isComplete && report.total == 1)
        #expect(try await queue.desk.look().ready == 0)
        let copies = try await queue.drain(Self.work)
        #expect(copies.count == 2 && Set(copies.compactMap(\.headers.once)).count == 2)
        #expect(Set(copies.compactMap(\.headers.replay)).count == 1)
        await queue.session.close()
    }

    @Test func `Without the app's queue nothing is lost, and it says what to do`() async throws {
        let queue = try await DeadQueue()
        try await queue.publish([DeadQueue.letter(1)])
        for name in [Self.work, FleetTopology.unrouted] { try await queue.session.delete(queue: name) }
        let report = await queue.desk.replay(Set(try await Self.ids(queue)), rules: Self.rules, rate: 100)
        #expect(report.failed == 1 && report.done == 0)
        #expect(report.trouble?.contains("topology declare") == true)
        #expect(try await queue.desk.look().ready == 1)
        await queue.session.close()
    }

    @Test func `An edit that is still bad changes nothing; a good one is published and the letter is gone`()
        async throws
    {
        let queue = try await DeadQueue()
        try await queue.publish([DeadQueue.letter(1, body: "{"), DeadQueue.letter(2)])
        let id = try #require(try await queue.desk.look().letters.first { $0.bodyBytes == 1 }?.id)
        let before = try await Self.ids(queue)
        let bad = try await queue.desk.edit(id, body: Array("[".utf8), rules: Self.rules)
        guard case .refused(let problem) = bad else { throw NeverHappened(description: "\(bad)") }
        #expect(problem.reason == .invalidJSON)
        let wrongApp = try await queue.desk.edit(
            id,
            body: Array(DeadQueue.body(1).utf8),
            app: "strict",
            rules: Self.rules
        )
        guard case .refused(let other) = wrongApp else { throw NeverHappened(description: "\(wrongApp)") }
        #expect(other.reason == .appMismatch)
        #expect(try await Self.ids(queue) == before)
        #expect(try await queue.depth(Self.work) == 0)

        let good = try await queue.desk.edit(id, body: Array(DeadQueue.body(3).utf8), lane: .bulk, rules: Self.rules)
        #expect(good == .replayed)
        #expect(try await queue.desk.look().ready == 1)
        let sent = try await queue.drain("pushfleet.\(DeadQueue.app).bulk")
        #expect(sent.map { String(decoding: $0.body, as: UTF8.self) } == [DeadQueue.body(3)])
        #expect(sent.first?.messageID == Array("order-1".utf8))
        #expect(try await queue.desk.edit(id, body: nil, rules: Self.rules) == .missing)
        await queue.session.close()
    }

    @Test func `What was exported and purged comes back, once however often it is imported`() async throws {
        let queue = try await DeadQueue()
        let hostile = DeadQueue.letter(3, reason: "\u{1B}[2J\u{202E}", body: "\u{0}\u{1B}]0;x\u{7}")
        try await queue.publish((0..<3).map { DeadQueue.letter($0) } + [hostile])
        let lines = Mutex<[String]>([])
        let look = try await queue.desk.read { letter in lines.withLock { $0.append(DeadLetterFile.line(letter)) } }
        #expect(look.seen == 4 && look.letters.isEmpty)
        let before = try await queue.desk.look(keepsBodies: true).letters
        #expect(await queue.desk.purge(Set(before.map(\.id))).isComplete)

        let letters = try lines.withLock { $0 }.map { try DeadLetterFile.letter(Array($0.utf8)) }
        #expect(try await queue.desk.add(letters) == .init(added: 4))
        #expect(try await queue.desk.add(letters + letters) == .init(added: 0, present: 8))
        let after = try await queue.desk.look(keepsBodies: true).letters
        #expect(after.map(\.id) == before.map(\.id) && after.map(\.body) == before.map(\.body))
        #expect(after.map(\.foreign) == before.map(\.foreign) && after.map(\.published) == before.map(\.published))
        await queue.session.close()
    }
}
