import Foundation
import TestServers
import Testing

@testable import Simulator

@Suite struct ControlServerTests {
    private static let token = String(repeating: "ab", count: 32)

    private func withSimulator(_ body: (Simulator, ControlClient) async throws -> Void) async throws {
        try await Bench.with { try await body($0, try ControlClient($0)) }
    }

    @Test func `It tells its state, and takes new settings`() async throws {
        try await self.withSimulator { simulator, control in
            let status = try await control.call("GET", "/status")
            #expect(status.status == 200)
            #expect(status["port"] == .integer(Int64(simulator.port)))
            #expect(status["environment"] == "production")
            #expect(status["keys"] == [.string(TestKey.shared.id)])
            #expect(status["latency_ms"] == 0 && status["initial_streams"] == 1 && status["streams"] == 1000)
            let changed = try await control.call("POST", "/settings", #"{"latency_ms":25,"streams":10}"#)
            #expect(changed.status == 200)
            #expect(changed["latency_ms"] == 25 && changed["streams"] == 10)
            #expect(try await control.call("POST", "/reset").status == 200)
            let reset = try await control.call("GET", "/status")
            #expect(reset["latency_ms"] == 0 && reset["streams"] == 1000)
        }
    }

    @Test func `Rules are added, listed and removed`() async throws {
        try await self.withSimulator { _, control in
            let first = try await control.call("POST", "/rules", #"{"id":"a","action":{"type":"drop"}}"#)
            #expect(first.status == 201 && first["id"] == "a")
            let second = try await control.call("POST", "/rules", #"{"action":{"type":"reset","code":7}}"#)
            #expect(second["id"] == "rule-2")
            let list = try await control.call("GET", "/rules")
            #expect(list["rules"]?.count == 2)
            #expect(list["rules.0.id"] == "a" && list["rules.0.hits"] == 0 && list["rules.1.action.code"] == 7)
            #expect(try await control.call("DELETE", "/rules/a").status == 200)
            let missing = try await control.call("DELETE", "/rules/a")
            #expect(missing.status == 404 && missing["error"] == "there is no such rule")
            #expect(try await control.call("DELETE", "/rules").status == 200)
            let left = try await control.count("GET", "/rules", of: "rules")
            #expect(left == 0)
        }
    }

    @Test func `Tokens are set and told`() async throws {
        try await self.withSimulator { _, control in
            let path = "/tokens/\(Self.token.uppercased())"
            let order = #"{"topic":"a.b","state":"unregistered","at":1700000000123}"#
            let set = try await control.call("PUT", path, order)
            #expect(set.status == 200)
            #expect(set["token"] == .string(Self.token))
            #expect(set["registrations.0.state"] == "unregistered")
            #expect(set["registrations.0.at"] == 1_700_000_000_123)
            #expect(try await control.call("PUT", path, #"{"state":"other_topic"}"#).status == 200)
            let report = try await control.call("GET", path)
            #expect(report["registrations"]?.count == 2)
            #expect(report["requests"] == 0)
            let last = try await control.call("GET", path + "/last")
            #expect(last.status == 404)
        }
    }

    @Test func `Keys are added and revoked`() async throws {
        try await self.withSimulator { _, control in
            let key = TestKey(id: "NEWKEY0000", team: "NEWTEAM000")
            let pem = key.key.pem.replacingOccurrences(of: "\n", with: "\\n")
            let body = #"{"id":"NEWKEY0000","team":"NEWTEAM000","public_key":"\#(pem)","environment":"sandbox"}"#
            #expect(try await control.call("POST", "/keys", body).status == 201)
            let status = try await control.call("GET", "/status")
            #expect(status["keys"] == [.string(TestKey.shared.id), "NEWKEY0000"])
            #expect(try await control.call("DELETE", "/keys/NEWKEY0000").status == 200)
            #expect(try await control.call("DELETE", "/keys/NEWKEY0000").status == 404)
        }
    }

    @Test func `Connections are few without a client`() async throws {
        try await self.withSimulator { _, control in
            let connections = try await control.count("GET", "/connections", of: "connections")
            let warned = try await control.value("POST", "/connections/goaway", #"{"reason":"X"}"#, of: "connections")
            let dropped = try await control.value("POST", "/connections/drop", of: "connections")
            let entries = try await control.count("GET", "/ledger", of: "entries")
            let requests = try await control.value("GET", "/ledger/summary", of: "requests")
            #expect(connections == 0 && warned == 0 && dropped == 0 && entries == 0 && requests == 0)
        }
    }

    static let bad: [(method: String, path: String, body: String?, field: String)] = [
        ("POST", "/rules", "{", "body"), ("POST", "/rules", "[]", "body"), ("POST", "/rules", nil, "action"),
        ("POST", "/rules", #"{"action":{"type":"explode"}}"#, "action.type"),
        ("POST", "/rules?x=1", #"{"action":{"type":"drop"}}"#, "x"), ("GET", "/rules?x=1", nil, "x"),
        ("PUT", "/tokens/xyz", #"{"state":"active"}"#, "token"), ("GET", "/tokens/abc", nil, "token"),
        ("PUT", "/tokens/ab", "{}", "state"), ("GET", "/ledger?limit=0", nil, "limit"),
        ("GET", "/ledger?limit=many", nil, "limit"), ("GET", "/ledger?status=7000", nil, "status"),
        ("GET", "/ledger?apns_id=1", nil, "apns_id"), ("GET", "/ledger?token=1", nil, "token"),
        ("GET", "/ledger?accepted=perhaps", nil, "accepted"), ("GET", "/ledger?color=red", nil, "color"),
        ("GET", "/ledger/summary?limit=1", nil, "limit"), ("POST", "/keys", "{}", "id"),
        ("POST", "/keys", #"{"id":"a","team":"b","public_key":"c"}"#, "public_key"),
        ("POST", "/keys", #"{"id":"a","team":"b","public_key":"c","environment":"moon"}"#, "environment"),
        ("POST", "/settings", #"{"latency_ms":"5"}"#, "latency_ms"), ("POST", "/reset", #"{"all":true}"#, "all"),
        ("POST", "/connections/goaway", #"{"last_stream":"x"}"#, "last_stream"),
        ("POST", "/connections/drop", #"{"now":true}"#, "now"),
    ]

    @Test func `Bad requests are told which field is wrong`() async throws {
        try await self.withSimulator { _, control in
            for (method, path, body, field) in Self.bad {
                let answer = try await control.call(method, path, body)
                #expect(answer.status == 400, "\(method) \(path)")
                #expect(answer["field"] == .string(field), "\(method) \(path)")
                #expect(answer["error"] != nil)
            }
            let nowhere = try await control.call("GET", "/nowhere")
            #expect(nowhere.status == 404 && nowhere["error"] == "there is nothing here")
            #expect(try await control.call("PATCH", "/rules").status == 404)
        }
    }

    @Test func `What cannot be started says why, and leaves no port taken`() async throws {
        let certificates = TestCertificates.shared
        let bad = Simulator.Settings(certificate: "/nonexistent", privateKey: certificates.serverKey)
        let error = await #expect(throws: (any Error).self) { try await Simulator.start(bad) }
        #expect("\(try #require(error))".contains("/nonexistent"))
        try await self.withSimulator { simulator, _ in
            var taken = Bench.settings
            taken.port = simulator.port
            await #expect(throws: (any Error).self) { try await Simulator.start(taken) }
            taken.port = 0
            taken.controlPort = simulator.controlPort
            await #expect(throws: SimulatorError.self) { try await Simulator.start(taken) }
        }
    }

    @Test func `A stopped simulator answers that it is stopped, and can be stopped again`() async throws {
        try await self.withSimulator { simulator, _ in
            await simulator.stop()
            await #expect(throws: SimulatorError.self) { try await simulator.summary() }
            await simulator.stop()
        }
    }

    @Test func `The clock is read and moved`() async throws {
        try await self.withSimulator { _, control in
            let before = try await control.call("GET", "/clock")
            #expect(before["is_real"] == true && before["scale"] == 1)
            let after = try await control.call("POST", "/clock", #"{"set_ms":5000000000000}"#)
            #expect(after["is_real"] == false)
            guard case .integer(let now)? = after["now_ms"] else {
                Issue.record("no time")
                return
            }
            #expect((5_000_000_000_000..<5_000_000_600_000).contains(now))
            #expect(try await control.call("POST", "/clock", #"{"scale":100,"wall":false}"#)["scale"] == 100)
            let real = try await control.call("POST", "/clock", #"{"real":true}"#)
            #expect(real["scale"] == 1 && real["now_ms"] == real["real_ms"])
        }
    }

    @Test func `All settings are taken, told and taken back`() async throws {
        try await self.withSimulator { simulator, control in
            let text = #"""
                {"latency_ms":{"median":20,"p99":50},"overflow":"goaway","window":100,"connection_window":70000,
                 "window_updates":false,"gone_report_delay_ms":60000,"malformed_body":"refuse",
                 "check_order":["path","method","duplicates","authorization","headers","topic","push_type","token",
                                "body","token_state"],
                 "environment":"sandbox","environment_key_reason":"BadEnvironmentKeyIdInToken",
                 "provider_token_age_ms":7200000,"provider_token_interval_ms":1000,"provider_token_scope":"source",
                 "bundle_ids":["a.b"],"token_burst":400,"token_rate":2.5,"idle_timeout_ms":60000,"error_budget":10,
                 "bad_device_token_cost":3,"over_error_budget":"drop","connect_limit":5,"connect_window_ms":1000,
                 "connect_block_ms":2000,"max_connections":9,"wedges_after_expired_token":false,"listens":false}
                """#
            let status = try await control.call("POST", "/settings", text)
            #expect(status.status == 200)
            #expect(status["overflow"] == "goaway" && status["environment"] == "sandbox")
            #expect(status["idle_timeout_ms"] == 60000 && status["error_budget"] == 10)
            #expect(status["connect_limit"] == 5 && status["max_connections"] == 9 && status["token_burst"] == 400)
            #expect(status["wedges_after_expired_token"] == false && status["listens"] == false)
            guard case .array(let order)? = status["check_order"] else {
                Issue.record("no order")
                return
            }
            #expect(order.first == "path")
            let off = #"{"idle_timeout_ms":0,"error_budget":0,"connect_limit":0,"token_burst":0,"bundle_ids":"any"}"#
            let changed = try await control.call("POST", "/settings", off)
            #expect(changed["idle_timeout_ms"] == nil && changed["error_budget"] == nil)
            #expect(changed["connect_limit"] == nil && changed["token_burst"] == nil)
            #expect(try await control.call("POST", "/reset").status == 200)
            let reset = try await control.call("GET", "/status")
            #expect(reset["listens"] == true && reset["overflow"] == "refuse" && reset["environment"] == "production")
            #expect(try await simulator.summary().requests == 0)
        }
    }

    @Test func `Tokens, devices and lists can be asked for`() async throws {
        try await self.withSimulator { _, control in
            let order = #"{"state":"unregistered","at":5,"environment":"sandbox","shows_after_ms":60000}"#
            let report = try await control.call("PUT", "/tokens/\(Self.token)", order)
            guard case .array(let known)? = report["registrations"], case .object(let first)? = known.first else {
                Issue.record("no registration")
                return
            }
            #expect(first["environment"] == "sandbox" && first["at"] == 5 && first["shows_at"] != nil)
            let again = try await control.call("PUT", "/tokens/\(Self.token)", #"{"state":"reregistered"}"#)
            #expect(again.status == 200)
            let device = try await control.call("GET", "/tokens/\(Self.token)/device")
            #expect(device["stored"] == [] && device["shown"] == [])
            let lost = try await control.call("POST", "/ledger/compare", #"{"tokens":["\#(Self.token)"]}"#)
            #expect(lost["asked"] == 1 && lost["missing"] == [.string(Self.token)])
            let entries = try await control.call("GET", "/ledger?after_gone=true&rule=none")
            #expect(entries["entries"] == [])
            let rule = #"{"action":{"type":"handshake","certificate":"none"}}"#
            let refused = try await control.call("POST", "/rules", rule)
            #expect(refused.status == 400 && refused["field"] == "action.certificate")
        }
    }
}
