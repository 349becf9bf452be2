internal import Push
internal import Testing

@testable import pushfleet

@Suite struct ScheduleReportTests {
    @Test("the standard schedule ends before its age limit")
    func standard() {
        let report = ScheduleReport(schedule: .standard)
        let delays: [Int64] = [10, 20, 40, 80, 160, 320, 600, 600]
        #expect(report.retries.map(\.delayMs).prefix(8) == delays.map { $0 * 1000 }[...])
        #expect(report.retries.last?.startsAfterMs == 10_230_000)
        #expect(report.end == "age_limit")
        #expect(report.nextWouldStartAfterMs == 10_830_000)
        #expect(report.queues.count == 7)
        let lines = report.lines()
        #expect(lines[0] == "retry  delay  starts after")
        #expect(lines[1] == "    1    10s           10s")
        #expect(
            lines.contains(
                "Retry 22 is the last: retry 23 would start after 3h 30s, past the age_limit of 3h."
            )
        )
        #expect(lines.suffix(7).first == "  pushfleet.delay.10s")
    }

    @Test("a limit of retries ends the list")
    func retryLimit() throws {
        let schedule = try RetrySchedule(
            minBackoff: .seconds(1),
            maxBackoff: .seconds(8),
            maxDoublings: 2,
            ageLimit: .seconds(3600),
            retryLimit: 2
        )
        let report = ScheduleReport(schedule: schedule)
        #expect(report.retries.map(\.startsAfterMs) == [1000, 3000])
        #expect(report.end == "retry_limit")
        #expect(report.nextWouldStartAfterMs == nil)
        #expect(report.lines().contains("Retry 2 is the last: retry_limit is 2."))
        #expect(report.queues.map(\.name) == ["pushfleet.delay.1s", "pushfleet.delay.2s"])
    }

    @Test("no retry at all is said plainly")
    func none() throws {
        let short = try RetrySchedule(
            minBackoff: .seconds(10),
            maxBackoff: .seconds(10),
            maxDoublings: 0,
            ageLimit: .seconds(5)
        )
        #expect(
            ScheduleReport(schedule: short).lines().first
                == "No retry: the first would start after 10s, past the age_limit of 5s."
        )
        let zero = try RetrySchedule(
            minBackoff: .seconds(1),
            maxBackoff: .seconds(1),
            maxDoublings: 0,
            ageLimit: .seconds(5),
            retryLimit: 0
        )
        #expect(ScheduleReport(schedule: zero).lines().first == "No retry: retry_limit is 0.")
    }

    @Test("a list without an end in sight is cut off")
    func cutOff() throws {
        let schedule = try RetrySchedule(
            minBackoff: .seconds(1),
            maxBackoff: .seconds(1),
            maxDoublings: 0,
            ageLimit: .seconds(604_800)
        )
        let report = ScheduleReport(schedule: schedule)
        #expect(report.retries.count == 1000)
        #expect(report.end == nil)
        #expect(report.lines().contains("The list is cut off after 1000 retries; the age_limit is 7d."))
    }
}
