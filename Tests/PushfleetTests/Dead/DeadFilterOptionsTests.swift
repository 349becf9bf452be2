import ArgumentParser
import Desk
import Push
import Testing

@testable import pushfleet

@Suite struct DeadFilterOptionsTests {
    private static let now = UnixTime(seconds: 1_790_000_000)

    @Test func `Options become a filter`() throws {
        let options = try DeadFilterOptions.parse([
            "--app", "shop", "--lane", "bulk", "--reason", "age-limit", "--older-than", "2h", "--message-id", "m",
            "--contains", "x",
        ])
        let filter = try options.filter(now: Self.now)
        #expect(filter.app == "shop" && filter.lane == .bulk && filter.reason == "age_limit")
        #expect(filter.diedBefore == Self.now - .seconds(7200) && filter.diedSince == nil)
        #expect(filter.messageID == Array("m".utf8) && filter.text == "x")
        #expect(!options.isEmpty)
        #expect(try DeadFilterOptions.parse([]).isEmpty)
    }

    @Test(arguments: [("badtopic", "BadTopic"), ("Unregistered", "Unregistered")])
    func `Apple's reasons are reasons too`(text: String, reason: String) throws {
        let filter = try DeadFilterOptions.parse(["--reason", text]).filter(now: Self.now)
        #expect(filter.reason == nil && filter.apnsReason == reason)
    }

    @Test(arguments: [
        ("2026-01-31", 1_769_817_600), ("2026-01-31T09:00:00Z", 1_769_850_000),
        ("2026-01-31T09:00:00+02:00", 1_769_842_800),
    ])
    func `Dates are taken in UTC or with an offset`(text: String, seconds: Int64) throws {
        let filter = try DeadFilterOptions.parse(["--newer-than", text]).filter(now: Self.now)
        #expect(filter.diedSince == UnixTime(seconds: seconds))
    }

    static let faults: [([String], String)] = [
        (["--older-than", "yesterday"], "--older-than"), (["--newer-than", "2"], "--newer-than"),
        (["--newer-than", "2026-13-01"], "neither a length of time"), (["--newer-than", ""], "--newer-than"),
        (["--older-than", "-5m"], "--older-than"),
        (["--older-than", "2h", "--newer-than", "1h", "--app", ""], "'--app' is empty"),
        (["--older-than", "2h", "--newer-than", "1h"], "exchange the two"),
        (["--reason", "age_limt"], "did you mean age_limit?"), (["--reason", "\u{1B}[2J"], "explain lists them all"),
        (["--reason", "BadTopic", "--apns-reason", "Gone"], "give one of them"), (["--lane", "later"], "--lane"),
    ]

    @Test(arguments: Self.faults.indices)
    func `What cannot be meant is refused by name`(index: Int) {
        let (arguments, words) = Self.faults[index]
        do {
            _ = try DeadFilterOptions.parse(arguments)
            Issue.record("taken: \(arguments)")
        } catch {
            let message = DeadFilterOptions.fullMessage(for: error)
            #expect(message.contains(words), "\(message)")
            #expect(!message.contains("\u{1B}"))
        }
    }

    @Test func `Ids and options exclude each other, and ids are checked`() throws {
        let id = "1C9a2f0b6d3e48579a0b1c2d"
        let selection = try DeadSelection.parse([id])
        let wanted = try #require(DeadLetterID(id))
        #expect(try selection.filter.ids == [wanted])
        #expect(throws: (any Error).self) { try DeadSelection.parse([id, "--app", "shop"]) }
        #expect(throws: (any Error).self) { try DeadSelection.parse(["order-17"]) }
    }
}
