import Foundation
import Push
import Testing

@testable import Simulator

@Suite struct ControlFieldsTests {
    private func value(_ text: String) throws -> ControlValue {
        try JSONDecoder().decode(ControlValue.self, from: Data(text.utf8))
    }

    static let badRules = [
        (#"[]"#, "body"), (#"{}"#, "action"), (#"{"action":"drop"}"#, "action"), (#"{"action":{}}"#, "action.type"),
        (#"{"action":{"type":"explode"}}"#, "action.type"), (#"{"action":{"type":1}}"#, "action.type"),
        (#"{"action":{"type":"drop","status":200}}"#, "action.status"),
        (#"{"action":{"type":"answer"}}"#, "action.status"),
        (#"{"action":{"type":"answer","status":99}}"#, "action.status"),
        (#"{"action":{"type":"answer","status":"503"}}"#, "action.status"),
        (#"{"action":{"type":"answer","status":503,"reason":7}}"#, "action.reason"),
        (#"{"action":{"type":"goaway","last_stream":"last"}}"#, "action.last_stream"),
        (#"{"action":{"type":"goaway","last_stream":-1}}"#, "action.last_stream"),
        (#"{"action":{"type":"goaway","reason":"a","debug_data":"b"}}"#, "action.debug_data"),
        (#"{"action":{"type":"reset","code":"REFUSED"}}"#, "action.code"),
        (#"{"action":{"type":"reset","code":-1}}"#, "action.code"),
        (#"{"action":{"type":"drop"},"delay_ms":"5"}"#, "delay_ms"),
        (#"{"action":{"type":"drop"},"delay_ms":[5,1]}"#, "delay_ms"),
        (#"{"action":{"type":"drop"},"delay_ms":-5}"#, "delay_ms"),
        (#"{"action":{"type":"drop"},"process":"yes"}"#, "process"),
        (#"{"action":{"type":"drop"},"id":"a/b"}"#, "id"), (#"{"action":{"type":"drop"},"colour":1}"#, "colour"),
        (#"{"action":{"type":"drop"},"match":[]}"#, "match"),
        (#"{"action":{"type":"drop"},"match":{"token":"aa"}}"#, "match.token"),
        (#"{"action":{"type":"drop"},"match":{"token_prefix":"xy"}}"#, "match.token_prefix"),
        (#"{"action":{"type":"drop"},"match":{"probability":1.5}}"#, "match.probability"),
        (#"{"action":{"type":"drop"},"match":{"probability":true}}"#, "match.probability"),
        (#"{"action":{"type":"drop"},"match":{"nth":0}}"#, "match.nth"),
        (#"{"action":{"type":"drop"},"match":{"every":2.5}}"#, "match.every"),
        (#"{"action":{"type":"drop"},"match":{"for_ms":0}}"#, "match.for_ms"),
        (#"{"action":{"type":"drop"},"match":{"idle_ms":0}}"#, "match.idle_ms"),
        (#"{"on":"start","action":{"type":"drop"}}"#, "on"), (#"{"on":"connect","action":{"type":"stall"}}"#, "on"),
        (#"{"on":"request","action":{"type":"refuse"}}"#, "on"),
        (#"{"on":"connect","action":{"type":"drop"},"match":{"topic":"a"}}"#, "match.topic"),
        (#"{"on":"connect","action":{"type":"drop"},"match":{"idle_ms":5}}"#, "match.idle_ms"),
        (#"{"action":{"type":"goaway","before_settings":true}}"#, "action.before_settings"),
        (#"{"action":{"type":"goaway","then":"explode"}}"#, "action.then"),
        (#"{"action":{"type":"settings","window_updates":false}}"#, "action.window_updates"),
        (#"{"action":{"type":"settings","for_ms":5}}"#, "action.for_ms"),
        (#"{"action":{"type":"settings","window":-1}}"#, "action.window"),
        (#"{"action":{"type":"handshake","alpn":"h3"}}"#, "action.alpn"),
        (#"{"action":{"type":"set_environment"}}"#, "action.environment"),
        (#"{"action":{"type":"block_connects"}}"#, "action.for_ms"),
        (#"{"action":{"type":"revoke_key"}}"#, "action.key"),
        (#"{"action":{"type":"answer","status":410,"timestamp":5}}"#, "action.timestamp"),
        (#"{"action":{"type":"answer","status":503,"sends":"some"}}"#, "action.sends"),
        (#"{"action":{"type":"answer","status":503,"retry_after":5}}"#, "action.retry_after"),
        (#"{"action":{"type":"pass"},"delay_ms":{"median":5}}"#, "delay_ms.p99"),
        (#"{"action":{"type":"pass"},"delay_ms":{"median":5,"p99":1}}"#, "delay_ms.p99"),
    ]

    @Test(arguments: badRules) func `A bad rule is refused by the name of its field`(text: String, field: String) throws
    {
        let value = try self.value(text)
        let error = #expect(throws: BadField.self) { try FaultRule(json: value) }
        #expect(error?.field == field)
        #expect(error?.problem.isEmpty == false)
    }

    @Test(arguments: [
        #"{"action":{"type":"pass"},"delay_ms":10}"#, #"{"action":{"type":"pass"},"delay_ms":[10,700]}"#,
        #"{"action":{"type":"answer","status":503,"reason":"ServiceUnavailable"}}"#,
        #"{"action":{"type":"answer","status":502,"body":"<html>"}}"#,
        #"{"action":{"type":"goaway","reason":"Shutdown"}}"#,
        #"{"action":{"type":"goaway","code":"ENHANCE_YOUR_CALM","debug_data":"plain","last_stream":"zero"}}"#,
        #"{"action":{"type":"goaway","last_stream":17}}"#, #"{"action":{"type":"reset"}}"#,
        #"{"action":{"type":"reset","code":"REFUSED_STREAM"}}"#, #"{"action":{"type":"stall"}}"#,
        #"{"action":{"type":"close"}}"#, #"{"id":"x","action":{"type":"drop"},"process":true}"#,
        #"{"action":{"type":"drop"},"match":{"topic":"a.b","token_prefix":"A1","path":"/3","connection":1}}"#,
        #"{"action":{"type":"drop"},"match":{"connection_request":1,"nth":2,"every":3,"probability":0.5,"max":9}}"#,
        #"{"action":{"type":"drop"},"match":{"after_ms":100}}"#,
        #"{"on":"connect","action":{"type":"drop"},"match":{"source":"127.0.0.1","connection":3}}"#,
        #"{"action":{"type":"black_hole","reads":false},"match":{"idle_ms":60000}}"#,
        #"{"action":{"type":"ignore_pings"}}"#, #"{"action":{"type":"refuse"}}"#, #"{"action":{"type":"silence"}}"#,
        #"{"on":"connect","action":{"type":"settings","streams":1,"window":0,"connection_window":5}}"#,
        #"{"on":"connect","action":{"type":"settings","window_updates":false,"sent":false}}"#,
        #"{"action":{"type":"settings","streams":1,"for_ms":60000}}"#,
        #"{"action":{"type":"handshake","certificate":"expired","alpn":"http/1.1"},"delay_ms":5000}"#,
        #"{"action":{"type":"revoke_key","key":"KEY"}}"#, #"{"action":{"type":"add_bundle_id","bundle_id":"a.b"}}"#,
        #"{"on":"connect","action":{"type":"set_environment","environment":"sandbox"}}"#,
        #"{"action":{"type":"block_connects","for_ms":5}}"#, #"{"action":{"type":"reset","code":7,"then":5}}"#,
        #"{"action":{"type":"answer","status":410,"reason":"Unregistered","timestamp":5,"sends":"half"}}"#,
        #"{"action":{"type":"answer","status":503,"reason":"x","pause_ms":5,"retry_after":"120"}}"#,
        #"{"action":{"type":"goaway","warning_ms":5,"then":"silence","silence_ms":7}}"#,
        #"{"on":"connect","action":{"type":"goaway","before_settings":true,"then":"drop"}}"#,
        #"{"action":{"type":"pass"},"delay_ms":{"median":120,"p99":5000,"least":10,"most":700000}}"#,
        #"{"action":{"type":"drop"},"match":{"after_ms":100,"for_ms":200,"probability":1}}"#,
    ]) func `A rule reads as it was written`(text: String) throws {
        let rule = try FaultRule(json: try self.value(text))
        #expect(try FaultRule(json: rule.json) == rule)
    }

    @Test func `A rule means what it says`() throws {
        let text = #"""
            {"id": "storm", "match": {"probability": 0.25, "max": 3, "after_ms": 100, "for_ms": 50},
             "action": {"type": "goaway", "code": "NO_ERROR", "reason": "Shutdown"}, "delay_ms": [1, 2]}
            """#
        var match = FaultRule.Match()
        match.probability = 0.25
        match.limit = 3
        match.window = .milliseconds(100)..<(.milliseconds(150))
        let rule = FaultRule(
            id: "storm",
            match: match,
            action: .goAway(code: 0, debugData: #"{"reason":"Shutdown"}"#, lastStream: .current),
            delay: .milliseconds(1) ... .milliseconds(2)
        )
        #expect(try FaultRule(json: try self.value(text)) == rule)
    }

    @Test(arguments: [
        (#"{}"#, "state"), (#"{"state":"gone"}"#, "state"), (#"{"state":"active","at":5}"#, "at"),
        (#"{"state":"expired","at":-5}"#, "at"), (#"{"state":"active","topic":5}"#, "topic"),
        (#"{"state":"active","since":5}"#, "since"),
    ]) func `A bad token order is refused by the name of its field`(text: String, field: String) throws {
        let value = try self.value(text)
        #expect(#expect(throws: BadField.self) { try TokenOrder(json: value) }?.field == field)
    }

    @Test(arguments: [
        (#"{"latency_ms":-1}"#, "latency_ms"), (#"{"streams":0}"#, "streams"), (#"{"speed":1}"#, "speed"),
        (#"{"unknown_tokens":"maybe"}"#, "unknown_tokens"),
        (#"{"drops_streams_after_rejection":1}"#, "drops_streams_after_rejection"),
        (#"{"overflow":"ignore"}"#, "overflow"), (#"{"window":-1}"#, "window"),
        (#"{"error_budget":-1}"#, "error_budget"),
        (#"{"check_order":["method","path"]}"#, "check_order"), (#"{"check_order":["method","x"]}"#, "check_order"),
        (#"{"environment":"moon"}"#, "environment"), (#"{"environment_key_reason":"x"}"#, "environment_key_reason"),
        (#"{"provider_token_scope":"ip"}"#, "provider_token_scope"), (#"{"bundle_ids":"all"}"#, "bundle_ids"),
        (#"{"bundle_ids":["a","a"]}"#, "bundle_ids"), (#"{"token_burst":1.5}"#, "token_burst"),
        (#"{"idle_timeout_ms":"1h"}"#, "idle_timeout_ms"), (#"{"over_error_budget":"end"}"#, "over_error_budget"),
        (#"{"latency_ms":{"median":1}}"#, "latency_ms.p99"), (#"{"listens":1}"#, "listens"),
    ]) func `Bad settings are refused by the name of their field`(text: String, field: String) throws {
        let value = try self.value(text)
        #expect(#expect(throws: BadField.self) { try SettingsOrder(json: value) }?.field == field)
    }

    @Test(arguments: [
        (#"{}"#, "body"), (#"{"advance_ms":1,"scale":2}"#, "body"), (#"{"advance_ms":-1}"#, "advance_ms"),
        (#"{"scale":-1}"#, "scale"), (#"{"set_ms":"now"}"#, "set_ms"), (#"{"real":false}"#, "real"),
        (#"{"speed":1}"#, "speed"),
    ]) func `A bad clock order is refused by the name of its field`(text: String, field: String) throws {
        let value = try self.value(text)
        #expect(#expect(throws: BadField.self) { try ClockOrder(json: value) }?.field == field)
    }

    @Test func `A clock order means what it says`() throws {
        #expect(try ClockOrder(json: try self.value(#"{"advance_ms":3600000}"#)) == .advance(.seconds(3600)))
        #expect(try ClockOrder(json: try self.value(#"{"skew_ms":-7200000}"#)) == .skew(.seconds(-7200)))
        #expect(try ClockOrder(json: try self.value(#"{"scale":100}"#)) == .scale(100))
        #expect(try ClockOrder(json: try self.value(#"{"set_ms":5}"#)) == .set(UnixTime(milliseconds: 5)))
        #expect(try ClockOrder(json: try self.value(#"{"real":true}"#)) == .real)
    }

    @Test(arguments: [
        (#"{}"#, "body"), (#"{"tokens":["aa"],"apns_ids":[]}"#, "body"), (#"{"tokens":["x"]}"#, "tokens"),
        (#"{"apns_ids":["x"]}"#, "apns_ids"), (#"{"apns_ids":"x"}"#, "apns_ids"),
    ]) func `A bad list to compare is refused by the name of its field`(text: String, field: String) throws {
        let value = try self.value(text)
        #expect(#expect(throws: BadField.self) { try ComparisonOrder(json: value) }?.field == field)
    }
}
