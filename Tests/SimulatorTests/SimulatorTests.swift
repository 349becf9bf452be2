import Foundation
import HTTP2
import Push
import TestServers
import Testing
import Wire

@testable import Simulator

/// The whole thing: real TLS, real HTTP/2, and our own client at the other end.
@Suite struct SimulatorTests {
    private static let good = PushLine.Outcome.answer(status: 200, id: nil, uniqueID: nil, body: "")

    @Test func `A push is answered, and the ledger has it`() async throws {
        try await Bench.withLine { simulator, line in
            let outcome = await line.send(Bench.draft(1))
            let id = MessageID(high: 7, low: 1).text()
            #expect(outcome == .answer(status: 200, id: id, uniqueID: nil, body: ""))
            try await Bench.eventually(simulator) { $0.answered == 1 }
            let record = try #require(try await simulator.requests().first)
            #expect(record.apnsID == id)
            #expect(record.token == String(repeating: "a1", count: 32))
            #expect(record.topic == "com.example.shop")
            #expect(record.pushType == "alert")
            #expect(record.accepted && record.answered && record.status == 200)
            let last = try #require(try await simulator.lastPush(to: record.token.uppercased()))
            #expect(last.body == #"{"aps":{"alert":"Hello"}}"#)
            let connection = try #require(try await simulator.connections().first)
            #expect(connection.keyID == TestKey.shared.id)
            #expect(connection.streamLimit == 1000)
            let summary = try await simulator.summary()
            #expect(summary.connectionsPeak == 1)
            #expect(summary.providerTokens.map(\.requests) == [1])
        }
    }

    @Test func `The stream limit is 1 until the first good push, then 1000`() async throws {
        try await Bench.withLine { _, line in
            _ = await line.send((0..<50).map(Bench.draft))
            #expect(await line.history(untilClosed: false).limits == [1, 1000])
        }
    }

    @Test func `An id that is made up comes in upper case, and the sandbox adds its own`() async throws {
        try await Bench.withLine {
            $0.environment = .sandbox
        } _: { _, line in
            guard case .answer(200, let id?, let uniqueID?, "") = await line.send(Bench.draft) else {
                Issue.record("no answer with ids")
                return
            }
            #expect(MessageID(Array(id.utf8)) != nil && id == id.uppercased())
            #expect(MessageID(Array(uniqueID.utf8)) != nil)
        }
    }

    @Test func `Refusals come with status and reason`() async throws {
        try await Bench.withLine { simulator, line in
            try await simulator.setToken("ab", to: .unregistered(at: UnixTime(milliseconds: 1_700_000_000_123)))
            let id = MessageID(high: 7, low: 1).text()
            let gone = await line.send(Bench.draft(1).to("AB"))
            let body = #"{"reason":"Unregistered","timestamp":1700000000123}"#
            #expect(gone == .answer(status: 410, id: id, uniqueID: nil, body: body))
            let topicless = await line.send(Bench.draft(1).with("apns-topic", nil))
            #expect(topicless == .answer(status: 400, id: id, uniqueID: nil, body: #"{"reason":"MissingTopic"}"#))
            var large = Bench.draft(1)
            large.body = Array(repeating: 0x20, count: 100_000)
            #expect(await line.send(large).status == 413)
            try await Bench.eventually(simulator) { $0.answered == 3 }
            #expect(try await simulator.requests(LedgerFilter(status: 413)).map(\.bodyBytes) == [100_000])
        }
    }

    @Test func `A revoked key is refused on the open connection`() async throws {
        try await Bench.withLine { simulator, line in
            #expect(await line.send(Bench.draft).status == 200)
            #expect(try await simulator.revokeKey(TestKey.shared.id))
            #expect(await line.send(Bench.draft).status == 403)
            try await simulator.addKey(TestKey.shared.key)
            #expect(await line.send(Bench.draft).status == 200)
        }
    }

    @Test func `Answers come after the latency, the quick ones first`() async throws {
        try await Bench.withLine {
            $0.latency = .milliseconds(20)
        } _: { simulator, line in
            var slow = FaultRule(action: .pass, delay: .milliseconds(300) ... .milliseconds(300))
            slow.match.tokenPrefix = "ee"
            try await simulator.addRule(slow)
            _ = await line.send(Bench.draft)
            let clock = ContinuousClock()
            let start = clock.now
            async let late = line.send(Bench.draft.to("ee"))
            async let quick = line.send((0..<20).map(Bench.draft))
            _ = await quick
            _ = await late
            // Never sooner; later is the machine's business.
            #expect(clock.now - start >= .milliseconds(320))
            try await Bench.eventually(simulator) { $0.answered == 22 }
        }
    }

    @Test func `A connection that is dropped before acceptance makes no duplicate`() async throws {
        try await Bench.withLine { simulator, line in
            var rule = FaultRule(action: .drop)
            rule.match.nth = 2
            try await simulator.addRule(rule)
            #expect(await line.send(Bench.draft(1)).status == 200)
            #expect(await line.send(Bench.draft(2)) == .failure(.unknown(.connectionLost)))
            let second = try PushLine.start(port: simulator.port)
            #expect(await second.send(Bench.draft(2)).status == 200)
            second.stop()
            let summary = try await simulator.summary()
            #expect(summary.requests == 3 && summary.accepted == 2 && summary.repeated == 1)
            #expect(summary.duplicates == 0)
            #expect(try await simulator.connections().first?.ending == "dropped by a rule")
        }
    }

    @Test func `A connection that is dropped after acceptance makes a duplicate of the next attempt`() async throws {
        try await Bench.withLine { simulator, line in
            var rule = FaultRule(action: .drop, processes: true)
            rule.match.nth = 1
            try await simulator.addRule(rule)
            #expect(await line.send(Bench.draft(1)) == .failure(.unknown(.connectionLost)))
            let second = try PushLine.start(port: simulator.port)
            #expect(await second.send(Bench.draft(1)).status == 200)
            second.stop()
            let summary = try await simulator.summary()
            #expect(summary.accepted == 2 && summary.duplicates == 1)
        }
    }

    @Test func `A reset stream fails with its code, and the connection lives`() async throws {
        try await Bench.withLine { simulator, line in
            for (code, failure) in [
                (UInt32(7), StreamFailure.notProcessed(.refused)), (2, .unknown(.reset(2))), (8, .unknown(.reset(8))),
            ] {
                try await simulator.addRule(FaultRule(id: "reset", action: .reset(code: code)))
                #expect(await line.send(Bench.draft) == .failure(failure))
            }
            try await simulator.removeRules()
            #expect(await line.send(Bench.draft).status == 200)
        }
    }

    @Test func `A GOAWAY names the last stream, answers it and closes`() async throws {
        try await Bench.withLine { simulator, line in
            _ = await line.send(Bench.draft(0))
            var rule = FaultRule(action: .goAway(code: 0, debugData: #"{"reason":"Shutdown"}"#, lastStream: .current))
            rule.match.tokenPrefix = "ee"
            try await simulator.addRule(rule)
            #expect(await line.send(Bench.draft(1).to("ee")).status == 200)
            let history = await line.history()
            #expect(history.goAways.map(\.lastStreamID) == [3])
            #expect(
                history.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == [#"{"reason":"Shutdown"}"#]
            )
            #expect(history.closeReason == .drained || history.closeReason == .transport(.closedByPeer))
        }
    }

    @Test func `A GOAWAY with stream 0 takes back what waits, and the ledger agrees`() async throws {
        try await Bench.withLine {
            $0.latency = .milliseconds(200)
        } _: { simulator, line in
            _ = await line.send(Bench.draft(0))
            var rule = FaultRule(action: .goAway(code: 0, debugData: "x", lastStream: .zero))
            rule.match.tokenPrefix = "ee"
            try await simulator.addRule(rule)
            let drafts = (1...9).map(Bench.draft) + [Bench.draft(10).to("ee")] + (11...20).map(Bench.draft)
            let outcomes = await line.send(drafts)
            // The group sends in any order: those ahead of the goodbye are old enough to be answered by then.
            let answered = outcomes.count { $0.status == 200 }
            let returned = outcomes.count { $0 == .failure(.notProcessed(.goAway)) }
            #expect(answered + returned == 20)
            #expect(await line.history().goAways.map(\.lastStreamID) == [0])
            let summary = try await simulator.summary()
            #expect(summary.accepted == 1 + answered)
            #expect(summary.answered == 1 + answered)
        }
    }

    @Test func `A GOAWAY with stream 0 is said before the connection closes`() async throws {
        try await Bench.withLine { simulator, line in
            let text = #"{"reason":"BadCertificateEnvironment"}"#
            try await simulator.addRule(FaultRule(action: .goAway(code: 0, debugData: text, lastStream: .zero)))
            #expect(await line.send(Bench.draft(1)) == .failure(.notProcessed(.goAway)))
            let history = await line.history()
            #expect(history.goAways == [GoAway(lastStreamID: 0, errorCode: 0, debugData: Array(text.utf8))])
            let record = try #require(try await simulator.requests().first)
            #expect(record.withdrawn && !record.accepted && !record.answered && record.status == nil)
            try await Bench.eventually(simulator) { $0.connectionsOpen == 0 && $0.withdrawn == 1 }
        }
    }

    @Test func `Pushes are answered in one piece while a GOAWAY ends connection after connection`() async throws {
        try await Bench.withLine {
            $0.latency = .milliseconds(1)
        } _: { simulator, _ in
            var rule = FaultRule(action: .goAway(code: 0, debugData: "", lastStream: .current))
            rule.match.every = 40
            try await simulator.addRule(rule)
            // A sender as it should be: what was not processed goes again, all else counts once.
            var left = Array(0..<600)
            var connections = 0
            while !left.isEmpty {
                connections += 1
                let line = try PushLine.start(port: simulator.port)
                let outcomes = await line.send(left.map(Bench.draft))
                line.stop()
                for outcome in outcomes where outcome.status != 200 {
                    guard case .failure(.notProcessed) = outcome else {
                        Issue.record("\(outcome)")
                        return
                    }
                }
                left = zip(left, outcomes).filter { $0.1.status != 200 }.map(\.0)
            }
            #expect(connections > 2)
            let summary = try await simulator.summary()
            #expect(summary.accepted == 600 && summary.duplicates == 0 && summary.ids == 600)
        }
    }

    @Test func `GOAWAY for all lets what is under way end well`() async throws {
        try await Bench.withLine {
            $0.latency = .milliseconds(100)
        } _: { simulator, line in
            _ = await line.send(Bench.draft(0))
            async let outcomes = line.send((1...20).map(Bench.draft))
            try await Bench.eventually(simulator) { $0.requests == 21 }
            #expect(try await simulator.goAwayAll(reason: "Shutdown") == 1)
            #expect(await outcomes.map(\.status) == Array(repeating: 200, count: 20))
            let history = await line.history()
            #expect(history.goAways.map(\.lastStreamID) == [41])
            try await Bench.eventually(simulator) { $0.connectionsOpen == 0 }
        }
    }

    @Test func `Dropped connections are gone at once`() async throws {
        try await Bench.withLine { simulator, line in
            _ = await line.send(Bench.draft)
            #expect(try await simulator.dropAllConnections() == 1)
            let reason = await line.history().closeReason
            guard case .transport? = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
            let summary = try await simulator.summary()
            #expect(summary.connectionsOpen == 0 && summary.connectionsPeak == 1)
        }
    }

    @Test func `A stalled push is never answered, the others are`() async throws {
        try await Bench.withLine { simulator, line in
            var rule = FaultRule(action: .stall)
            rule.match.tokenPrefix = "ee"
            try await simulator.addRule(rule)
            _ = await line.send(Bench.draft(0))
            async let stalled = line.send(Bench.draft(1).to("ee"))
            #expect(await line.send((2...30).map(Bench.draft)).allSatisfy { $0.status == 200 })
            try await Bench.eventually(simulator) { $0.requests == 31 && $0.answered == 30 }
            // Nothing else is owed, so a GOAWAY ends it.
            _ = try await simulator.goAwayAll()
            #expect(await stalled == .failure(.unknown(.connectionLost)))
            #expect(try await simulator.requests(LedgerFilter(answered: false)).map(\.rule) == ["rule-1"])
        }
    }

    @Test func `The limit falls to 1 with a rejection where that is asked for`() async throws {
        try await Bench.withLine {
            $0.dropsStreamsAfterRejection = true
        } _: { _, line in
            #expect(await line.send(Bench.draft).status == 200)
            #expect(await line.send(Bench.draft.with("apns-topic", nil)).status == 400)
            #expect(await line.send(Bench.draft).status == 200)
            #expect(await line.history(untilClosed: false).limits == [1, 1000, 1, 1000])
        }
    }

    @Test func `New stream limits are announced`() async throws {
        try await Bench.withLine { simulator, line in
            #expect(await line.send(Bench.draft).status == 200)
            try await simulator.setStreams(full: 5)
            #expect(await line.send(Bench.draft).status == 200)
            #expect(await line.history(untilClosed: false).limits == [1, 1000, 5])
        }
    }

    @Test func `A reset of everything leaves the connection as it is`() async throws {
        try await Bench.withLine { simulator, line in
            try await simulator.addRule(FaultRule(action: .answer(status: 503, reason: "Shutdown", body: nil)))
            #expect(await line.send(Bench.draft).status == 503)
            try await simulator.reset()
            #expect(await line.send(Bench.draft).status == 200)
            let summary = try await simulator.summary()
            #expect(summary.requests == 1 && summary.connectionsOpen == 1 && summary.connectionsOpened == 1)
        }
    }

    @Test(arguments: [["http://"], ["--insecure", "--http1.1", "https://"]])
    func `Without TLS or with HTTP 1 there is no connection`(_ arguments: [String]) async throws {
        try await Bench.withLine { simulator, _ in
            let address = arguments.last! + "127.0.0.1:\(simulator.port)/"
            let command = ["curl", "--silent", "--max-time", "5"] + arguments.dropLast() + [address]
            #expect(throws: CommandFailure.self) { try Repository.run(command) }
            let summary = try await simulator.summary()
            #expect(summary.requests == 0)
        }
    }

    @Test func `A client that is not ours gets its answer`() async throws {
        try await Bench.withLine { simulator, _ in
            let file = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)").path
            try Data(Bench.draft.body).write(to: URL(filePath: file))
            defer { try? FileManager.default.removeItem(atPath: file) }
            let headers = Bench.draft.headers.flatMap { ["-H", "\($0.name): \($0.value)"] }
            let output = try Repository.run(
                ["nghttp", "--no-verify-peer", "-v", "-d", file] + headers
                    + ["https://127.0.0.1:\(simulator.port)\(Bench.draft.path)"]
            )
            #expect(output.contains(":status: 200"))
            try await Bench.eventually(simulator) { $0.accepted == 1 && $0.answered == 1 }
        }
    }

    @Test func `The control API steers and tells`() async throws {
        try await Bench.withLine { simulator, line in
            let control = try ControlClient(simulator)
            let rule = #"{"match":{"max":1},"action":{"type":"answer","status":503,"reason":"ServiceUnavailable"}}"#
            #expect(try await control.call("POST", "/rules", rule).status == 201)
            #expect(await line.send(Bench.draft(1)).status == 503)
            #expect(await line.send(Bench.draft(1)).status == 200)
            try await Bench.eventually(simulator) { $0.answered == 2 }
            let ledger = try await control.call(
                "GET",
                "/ledger?apns_id=\(MessageID(high: 7, low: 1).text(upperCase: true))"
            )
            #expect(ledger["entries"]?.count == 2)
            #expect(ledger["entries.0.status"] == 200 && ledger["entries.1.reason"] == "ServiceUnavailable")
            #expect(ledger["entries.1.rule"] == "rule-1")
            let summary = try await control.call("GET", "/ledger/summary")
            #expect(summary["accepted"] == 1 && summary["connections_peak"] == 1 && summary["repeated"] == 1)
            #expect(summary["provider_tokens.0.key_id"] == .string(TestKey.shared.id))
            let last = try await control.call("GET", "/tokens/\(String(repeating: "A1", count: 32))/last")
            #expect(last["body"] == .string(#"{"aps":{"alert":"Hello"}}"#))
            let rules = try await control.call("GET", "/rules")
            #expect(rules["rules.0.hits"] == 1 && rules["rules.0.matched"] == 2)
            let connections = try await control.call("GET", "/connections")
            #expect(connections["connections.0.requests"] == 2)
            let dropped = try await control.call("POST", "/connections/drop")
            #expect(dropped["connections"] == 1)
        }
    }
}
