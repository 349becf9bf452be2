import Push
import Testing

@Suite struct DateTests {
    @Test(arguments: [
        (0, "1970-01-01"), (-1, "1969-12-31"), (951_782_400, "2000-02-29"), (951_868_800, "2000-03-01"),
        (1_704_067_199, "2023-12-31"), (1_709_164_800, "2024-02-29"), (1_767_225_600, "2026-01-01"),
        (4_107_542_400, "2100-03-01"), (-86_400, "1969-12-31"), (-86_401, "1969-12-30"),
    ])
    func `The day of a time`(seconds: Int64, date: String) {
        #expect(UnixTime(seconds: seconds).date == date)
    }
}
