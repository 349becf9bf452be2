import Crypto
import Foundation
import FoundationNetworking
import Push
import TestServers
import Testing

@testable import Simulator

@Suite struct ExpectationTests {
    private static func order(_ json: String) throws -> ExpectationOrder {
        try ExpectationOrder(json: JSONDecoder().decode(ControlValue.self, from: Data(json.utf8)))
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":1}"#, true), (#"{"a":1,"b":2}"#, #"{"a":1}"#, true), (#"{"a":1}"#, #"{"b":1}"#, false),
        (#"{"a":{"b":[1,2],"c":3}}"#, #"{"a":{"b":[1,2]}}"#, true), (#"{"a":[1,2]}"#, #"{"a":[1]}"#, false),
        (#"{"a":1}"#, #"{"a":1.0}"#, true), (#"{"a":"1"}"#, #"{"a":1}"#, false), (#"{"a":null}"#, #"{"a":null}"#, true),
    ])
    func `A payload holds what is wanted of it`(whole: String, part: String, holds: Bool) throws {
        let whole = try JSONDecoder().decode(ControlValue.self, from: Data(whole.utf8))
        let part = try JSONDecoder().decode(ControlValue.self, from: Data(part.utf8))
        #expect(whole.contains(part) == holds)
    }

    @Test(arguments: [
        ("{}", "token"), (#"{"token":"abc"}"#, "token"), (#"{"token":"ab","at_most":0,"at_least":1}"#, "at_most"),
        (#"{"token":"ab","within_ms":60001}"#, "within_ms"), (#"{"token":"ab","at_lest":1}"#, "at_lest"),
    ])
    func `What cannot be expected is told by its field`(json: String, field: String) {
        let error = #expect(throws: BadField.self) { try Self.order(json) }
        #expect(error?.field == field)
    }

    @Test func `Nothing was sent: too early to tell, until the time is over`() throws {
        let service = PushService(settings: PushService.Settings())
        let some = try Self.order(#"{"token":"00ff"}"#)
        #expect(some.result(in: service, isLast: false) == nil)
        let result = try #require(some.result(in: service, isLast: true))
        #expect(!result.holds && result.error == "expected at least 1, and there are 0")
        let none = try Self.order(#"{"token":"00ff","at_most":0}"#)
        #expect(none.result(in: service, isLast: false) == nil)
        #expect(try #require(none.result(in: service, isLast: true)).holds)
    }
}

/// Over the wire, as an app team asks.
@Suite struct PushQuestionsTests {
    private static let token = String(repeating: "ab", count: 32)
    private static let push = PushDraft(issuedAt: Int64(Date().timeIntervalSince1970)).to(token)

    private func with(
        _ change: (inout Simulator.Settings) -> Void = { _ in },
        _ body: (Simulator, ControlClient, PushLine) async throws -> Void
    ) async throws {
        try await Bench.withLine(change) { simulator, line in
            try await body(simulator, try ControlClient(simulator), line)
        }
    }

    @Test func `Who waits for a push is told when it comes`() async throws {
        try await self.with { _, control, line in
            async let last = control.call("GET", "/tokens/\(Self.token)/last?wait=30s")
            // It may come before or after the question; both must do.
            _ = await line.send(Self.push)
            let answer = try await last
            #expect(answer.status == 200)
            #expect(answer["token"] == .string(Self.token) && answer["body"] == #"{"aps":{"alert":"Hello"}}"#)
            let later = try await control.call("GET", "/tokens/\(Self.token)/last?wait=50ms&after=1")
            #expect(later.status == 404)
        }
    }

    @Test func `Who waits in vain, or until the simulator stops, gets an answer`() async throws {
        try await self.with { simulator, control, _ in
            let nothing = try await control.call("GET", "/tokens/\(Self.token)/last?wait=20ms")
            #expect(nothing.status == 404)
            let tooLong = try await control.call("GET", "/tokens/\(Self.token)/last?wait=2h")
            #expect(tooLong.status == 400 && tooLong["field"] == "wait")
            let desk = simulator.desk
            let waiting = Task { try await desk.wait(for: [1], within: .seconds(600)) { _, _ in Optional<Int>.none } }
            // It waits by now, or will be told that it is too late; either must end.
            await simulator.stop()
            switch await waiting.result {
            case .success(let found): #expect(found == nil)
            case .failure(let error): #expect(error is SimulatorError)
            }
        }
    }

    @Test func `Pushes of a token are listed, and forgotten on request`() async throws {
        try await self.with { _, control, line in
            _ = await line.send([Self.push, Self.push, Self.push.to("00ff")])
            let list = try await control.call("GET", "/tokens/\(Self.token)/pushes")
            #expect(list["pushes"]?.count == 2 && list["pushes.0.body"] != nil)
            let topic = try await control.count("GET", "/tokens/\(Self.token)/pushes?topic=x", of: "pushes")
            #expect(topic == 0)
            #expect(try await control.call("DELETE", "/ledger").status == 200)
            let left = try await control.count("GET", "/tokens/\(Self.token)/pushes", of: "pushes")
            let requests = try await control.value("GET", "/ledger/summary", of: "requests")
            #expect(left == 0 && requests == 0)
        }
    }

    @Test func `An expectation holds or fails with the reason`() async throws {
        try await self.with { _, control, line in
            func expect(_ fields: String) async throws -> ControlClient.Answer {
                try await control.call("POST", "/expectations", #"{"token":"\#(Self.token)"\#(fields)}"#)
            }
            #expect(try await expect(#","at_most":0,"within_ms":20"#).status == 200)
            async let waiting = expect(#","payload":{"aps":{"alert":"Hello"}},"within_ms":30000"#)
            _ = await line.send(Self.push)
            let held = try await waiting
            #expect(held.status == 200 && held["holds"] == true && held["pushes"]?.count == 1)
            #expect(try await expect(#","topic":"com.example.shop","push_type":"alert","priority":10"#).status == 200)
            let other = try await expect(#","payload":{"aps":{"alert":"Bye"}}"#)
            #expect(other.status == 417 && other["holds"] == false)
            #expect(other["error"] == "expected at least 1, and there are 0; 1 to the token do not fit")
            let many = try await expect(#","at_most":0"#)
            #expect(many.status == 417 && many["error"] == "expected at most 0, and there are 1")
        }
    }

    @Test func `Keys that nobody named are taken only when told so, and one that was revoked never`() async throws {
        try await self.with {
            $0.keys = []
        } _: { _, control, line in
            #expect(await line.send(Self.push).status == 403)
            let entry = try await control.call("GET", "/ledger")
            #expect(entry["entries.0.reason"] == "InvalidProviderToken")
        }
        try await self.with { settings in
            settings.acceptsAnyKey = true
        } _: { simulator, _, line in
            let stranger = TestKey(id: "STRANGER00", team: "ANYTEAM000")
            let push = PushDraft(stranger, issuedAt: Int64(Date().timeIntervalSince1970))
            #expect(await line.send(push).status == 200)
            let forged = TestKey(id: TestKey.shared.id, team: TestKey.shared.team)
            let other = try PushLine.start(port: simulator.port)
            defer { other.stop() }
            // A key that was named is checked as ever.
            #expect(await other.send(PushDraft(forged, issuedAt: Int64(Date().timeIntervalSince1970))).status == 403)
            try await simulator.revokeKey(TestKey.shared.id)
            #expect(await other.send(Self.push).status == 403)
        }
    }

    @Test func `The page takes nothing from elsewhere, and other sites cannot give orders`() async throws {
        try await self.with { simulator, _, _ in
            let port = try #require(simulator.controlPort)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
            let (data, response) = try await URLSession.shared.data(from: url)
            let page = String(decoding: data, as: UTF8.self)
            let policy = try #require(
                (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Security-Policy")
            )
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
            // What the policy names by its hash is what the page has.
            for element in ["style", "script"] {
                let start = try #require(page.firstRange(of: "<\(element)>")).upperBound
                let end = try #require(page.firstRange(of: "</\(element)>")).lowerBound
                let hash = Data(SHA256.hash(data: Data(page[start..<end].utf8))).base64EncodedString()
                #expect(policy.contains("\(element)-src 'sha256-\(hash)'"))
            }
            #expect(!page.contains("src=") && !page.contains("href=") && !page.contains("@import"))
            var request = URLRequest(url: url.appendingPathComponent("reset"))
            request.httpMethod = "POST"
            request.setValue("http://evil.example", forHTTPHeaderField: "Origin")
            let (_, refused) = try await URLSession.shared.data(for: request)
            #expect((refused as? HTTPURLResponse)?.statusCode == 403)
            request.setValue("http://127.0.0.1:\(port)", forHTTPHeaderField: "Origin")
            let (_, taken) = try await URLSession.shared.data(for: request)
            #expect((taken as? HTTPURLResponse)?.statusCode == 200)
        }
    }

    @Test func `A scenario is played, told, and starts over with a reset`() async throws {
        let scenario = try Scenario(
            text: """
                description: One push, then nothing but refusals. And more.
                start: {latency_ms: 1}
                timeline:
                  - after: {requests: 1}
                    add_rule: {id: no, action: {type: answer, status: 503, reason: ServiceUnavailable}}
                    remove_rules:
                  - after: {requests: 2}
                    revoke_key: NOBODY0000
                    add_rule: {id: no, action: {type: answer, status: 503, reason: ServiceUnavailable}}
                """
        ) { _ throws(ScenarioProblem) in "" }
        try await self.with {
            $0.play(scenario)
        } _: { _, control, line in
            for round in 1...2 {
                #expect(await line.send(Self.push).status == 200, "round \(round)")
                #expect(await line.send(Self.push).status == 200)
                #expect(await line.send(Self.push).status == 503)
                let report = try await control.call("GET", "/scenario")
                #expect(report["title"] == "One push, then nothing but refusals.")
                #expect(report["is_over"] == true && report["steps.0.done"] == 1)
                #expect(report["steps.0.orders"] == ["add_rule", "remove_rules"])
                #expect(report["misses"] == ["revoke_key: there is no key NOBODY0000"])
                #expect(try await control.call("POST", "/reset").status == 200)
            }
        }
        try await self.with { _, control, _ in
            let nothing = try await control.call("GET", "/scenario")
            #expect(nothing.status == 404)
        }
    }
}
