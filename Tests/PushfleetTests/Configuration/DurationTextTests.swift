internal import Testing

@testable import pushfleet

@Suite struct DurationTextTests {
    @Test(
        "a whole number and a unit is a duration",
        arguments: [
            ("250ms", Duration.milliseconds(250)), ("10s", .seconds(10)), ("5m", .seconds(300)),
            ("3h", .seconds(10_800)), ("7d", .seconds(604_800)), ("0s", .zero), ("007s", .seconds(7)),
        ]
    )
    func reads(text: String, duration: Duration) throws {
        #expect(try DurationText.parse(text) == duration)
    }

    @Test(
        "anything else is refused with a hint",
        arguments: [
            ("10", "has no unit; write 10s"), ("", "is not a duration"), ("s", "is not a duration"),
            ("1.5h", "is not a duration; write one whole number"), ("-3s", "is not a duration"),
            ("1h30m", "write one whole number"), ("10 s", "write one whole number"), ("10S", "write one whole number"),
            ("5min", "write one whole number"), ("٣s", "is not a duration"),
            ("999999999999999999999s", "hundred years"),
            ("40000d", "hundred years"),
        ]
    )
    func refuses(text: String, hint: String) {
        do throws(ValueFault) {
            _ = try DurationText.parse(text)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.phrase.contains(hint))
        }
    }

    @Test("what is written is read as the same duration")
    func roundTrip() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let duration = Duration.milliseconds(Int64.random(in: 0...10_000_000_000, using: &random))
            #expect(try DurationText.parse(DurationText.format(duration)) == duration)
        }
    }

    @Test(
        "durations are spoken in the units they have",
        arguments: [
            (Duration.zero, "0s"), (.milliseconds(250), "250ms"), (.milliseconds(1500), "1.5s"), (.seconds(59), "59s"),
            (.seconds(60), "1m"), (.seconds(90), "1m 30s"), (.seconds(10_230), "2h 50m 30s"),
            (.seconds(10_800), "3h"), (.seconds(90_000), "1d 1h"),
        ]
    )
    func speaks(duration: Duration, text: String) {
        #expect(DurationText.spoken(duration) == text)
    }
}
