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
    ]) func `Bad settings are refused by the name of their field`(text: String, field: String) throws {
        let value = try self.value(text)
        #expect(#expect(throws: BadField.self) { try SettingsOrder(json: value) }?.field == field)
    }
}
