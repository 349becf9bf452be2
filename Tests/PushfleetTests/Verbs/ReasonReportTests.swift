internal import Push
internal import Testing

@testable import pushfleet

@Suite struct ReasonReportTests {
    @Test("every reason says what it means, what happens and what to do")
    func complete() {
        #expect(ReasonReport.all.count == 1 + ReasonTable.rows.count + DeadLetterReason.allCases.count)
        for report in ReasonReport.all {
            #expect(!report.meaning.isEmpty && !report.nextStep.isEmpty && !report.handling.isEmpty)
            #expect(report.lines().allSatisfy { $0.count <= 100 })
        }
    }

    @Test(
        "reasons are found by name in any case, by status, and by the dead letter's name",
        arguments: [
            ("BadDeviceToken", "BadDeviceToken"), ("unregistered", "Unregistered"), ("200", "OK"),
            ("payload_too_large", "payload_too_large"), ("Payload-Too_Large", "payload_too_large"),
        ]
    )
    func finds(text: String, reason: String) {
        #expect(ReasonReport.find(text).map(\.reason) == [reason])
    }

    @Test("a status has all its reasons")
    func status() {
        let reports = ReasonReport.find("410")
        #expect(reports.count >= 3)
        #expect(reports.allSatisfy { $0.status == 410 })
    }

    @Test("a mistyped reason has a suggestion, nonsense has none")
    func suggests() {
        #expect(ReasonReport.find("BadDeviceTokn") == [])
        #expect(ReasonReport.nearest(to: "BadDeviceTokn") == "BadDeviceToken")
        #expect(ReasonReport.nearest(to: "unknwn_app") == "unknown_app")
        #expect(ReasonReport.nearest(to: "qqqqqqqqqqqq") == nil)
    }
}
