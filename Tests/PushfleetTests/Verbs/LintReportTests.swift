internal import Push
internal import Testing

@testable import pushfleet

@Suite struct LintReportTests {
    @Test("every finding of every payload is one line; white space around a payload does not count")
    func lines() {
        var report = LintReport()
        report.add("a.json", Array("{\"aps\":{\"badge\":\"3\",\"sond\":1}}\n".utf8), .alert, isBroadcast: false)
        report.add("b.json", Array(" {\"aps\":{\"content-available\":1}}\n".utf8), .background, isBroadcast: false)
        #expect(report.findings == 2)
        #expect(report.payloads.map(\.bytes) == [30, 31])
        #expect(
            report.lines() == [
                "a.json: payload.aps.badge: \"badge\" must be a whole number from 0; it is a string.",
                "a.json: payload.aps.sond: \"sond\" is not a key that Apple knows in \"aps\"; did you mean \"sound\"?",
            ]
        )
    }

    @Test("payloads without a finding are counted; an empty file is a finding")
    func fine() {
        var report = LintReport()
        report.add("a.json", Array("{\"aps\":{}}".utf8), .alert, isBroadcast: false)
        #expect(report.lines() == ["1 payload, no findings"])
        report.add("-", Array(" \n".utf8), .alert, isBroadcast: false)
        #expect(report.payloads[1].findings.map(\.path) == ["payload"])
    }

    @Test("a push type is named, or the nearest one suggested")
    func pushType() throws {
        #expect(try PushType.argument("voip") == .voip)
        #expect(throws: (any Error).self) { try PushType.argument("widget ") }
    }
}
