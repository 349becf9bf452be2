internal import Foundation
internal import Push
internal import Testing

@testable import pushfleet

@Suite struct MessageDraftTests {
    @Test("a full draft is a body of the contract, and the payload stays as it was given")
    func full() throws {
        let payload = "{ \"aps\" : { } , \"n\" : 1.50 }"
        let draft = MessageDraft(
            app: "com.example.shop",
            tokens: ["00ff", "AA11"],
            pushType: "background",
            priority: 5,
            collapseID: "order-17",
            topic: "com.example.shop.other",
            expiresAt: 1_900_000_000,
            notBefore: 1_800_000_000,
            wantsReceipt: true,
            payload: payload
        )
        let job = try EnvelopeDecoder.decode(body: draft.body)
        #expect(job.appName == "com.example.shop")
        #expect((0..<job.tokenCount).map(job.token) == ["00ff", "aa11"])
        #expect(job.pushType == .background)
        #expect(job.priority == .considerate)
        #expect(job.collapseID == "order-17")
        #expect(job.topicOverride == "com.example.shop.other")
        #expect(job.expiresAt == UnixTime(seconds: 1_900_000_000))
        #expect(job.notBefore == UnixTime(seconds: 1_800_000_000))
        #expect(job.wantsReceipt)
        #expect(job.withPayload { String(decoding: $0, as: UTF8.self) } == payload)
    }

    @Test("a draft asks for no receipt of its own accord")
    func receipt() throws {
        let draft = MessageDraft(app: "com.example.shop", tokens: ["00ff"], payload: "{}")
        #expect(try !EnvelopeDecoder.decode(body: draft.body).wantsReceipt)
    }

    @Test("a draft to a channel names no tokens")
    func channel() throws {
        var draft = MessageDraft(app: "com.example.shop", tokens: [], payload: "{}")
        draft.channel = "a/b+c=="
        draft.expiresAt = 0
        let job = try EnvelopeDecoder.decode(body: draft.body)
        #expect(job.channelID == "a/b+c==" && job.tokenCount == 1 && job.expiresAt == UnixTime(seconds: 0))
    }

    @Test("texts of every kind survive", arguments: ["Hello", "\"quoted\" \\ \u{1}\n\t", "grüße 🎉", ""])
    func texts(text: String) throws {
        for title in [nil, "Title \"x\""] {
            let payload = MessageDraft.alert(text, title: title)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: [String: Any]]
            )
            let alert = object["aps"]?["alert"]
            if let title {
                #expect((alert as? [String: String]) == ["title": title, "body": text])
            } else {
                #expect((alert as? String) == text)
            }
            let draft = MessageDraft(app: "a", tokens: ["00"], payload: payload)
            _ = try EnvelopeDecoder.decode(body: draft.body)
        }
    }

    @Test("tokens come one on each line")
    func tokens() {
        #expect(MessageDraft.tokens(inLines: "aa\n\n  bb \r\n# note\ncc") == ["aa", "bb", "cc"])
    }

    @Test(
        "times are seconds, dates, or from now on",
        arguments: [
            ("1900000000", 1_900_000_000), ("+10m", 1600), ("+90s", 1090), ("2030-01-31T09:00:00Z", 1_896_080_400),
            ("2030-01-31T10:00:00+01:00", 1_896_080_400), ("0", 0),
        ]
    )
    func times(text: String, seconds: Int64) throws {
        #expect(try MessageDraft.time(text, now: 1000) == seconds)
    }

    @Test("anything else is no time", arguments: ["", "tomorrow", "+10", "10m", "2030-13-01T00:00:00Z", "1.5"])
    func noTimes(text: String) {
        #expect(throws: ValueFault.self) { try MessageDraft.time(text, now: 1000) }
    }
}
