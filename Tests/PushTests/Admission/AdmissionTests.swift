import Push
import Testing

@Suite("Admission")
struct AdmissionTests {
    static let now: Int64 = 1_767_000_000
    static let rule = Admission(ageLimit: .seconds(10_800))

    struct Case: Sendable, CustomTestStringConvertible {
        let what: String
        let expiresAt: Int64?
        let notBefore: Int64?
        let published: Int64?
        let verdict: Admission.Verdict

        init(
            _ what: String,
            expires: Int64? = nil,
            notBefore: Int64? = nil,
            published: Int64? = nil,
            _ verdict: Admission.Verdict
        ) {
            self.what = what
            self.expiresAt = expires
            self.notBefore = notBefore
            self.published = published
            self.verdict = verdict
        }

        var testDescription: String { self.what }
    }

    static let cases: [Case] = [
        Case("nothing set", .go),
        Case("just published", published: Self.now, .go),
        Case("as old as allowed", published: Self.now - 10_800, .go),
        Case("a second too old", published: Self.now - 10_801, .refuse(.ageLimit)),
        Case("published in 1970", published: 0, .refuse(.ageLimit)),
        Case("published before 1970", published: -.max, .refuse(.ageLimit)),
        Case("published in the future", published: Self.now + 3600, .go),
        Case("published in milliseconds", published: Self.now * 1000, .go),
        Case("published at the end of time", published: .max, .go),
        Case("expires in a second", expires: Self.now + 1, .go),
        Case("expires now", expires: Self.now, .refuse(.expired)),
        Case("expired in 1970", expires: 1, .refuse(.expired)),
        Case("not stored is not expired", expires: 0, .go),
        Case("not stored, too old", expires: 0, published: Self.now - 10_801, .refuse(.ageLimit)),
        Case("expired goes before old", expires: Self.now - 5, published: Self.now - 99_999, .refuse(.expired)),
        Case("not before now", notBefore: Self.now, .go),
        Case("not before a second", notBefore: Self.now + 1, .wait(until: UnixTime(seconds: Self.now + 1))),
        Case("not before 1970", notBefore: 0, published: Self.now, .go),
        Case("held 30 days", notBefore: Self.now + 2_592_000, .wait(until: UnixTime(seconds: Self.now + 2_592_000))),
        Case("held longer than 30 days", notBefore: Self.now + 2_592_001, .refuse(.holdLimit)),
        Case("held to the end of 2200", notBefore: 7_289_654_399, .refuse(.holdLimit)),
        Case("expires before it may be sent", expires: Self.now + 60, notBefore: Self.now + 60, .refuse(.expired)),
        Case(
            "expires after it may be sent",
            expires: Self.now + 61,
            notBefore: Self.now + 60,
            .wait(until: UnixTime(seconds: Self.now + 60))
        ),
        Case("age counts from not_before", notBefore: Self.now - 10_800, published: Self.now - 99_999, .go),
        Case("age after not_before", notBefore: Self.now - 10_801, published: Self.now - 99_999, .refuse(.ageLimit)),
        Case("waits however old", notBefore: Self.now + 9, published: 0, .wait(until: UnixTime(seconds: Self.now + 9))),
    ]

    @Test("decides", arguments: Self.cases)
    func decides(one: Case) {
        let verdict = Self.rule.decide(
            expiresAt: one.expiresAt.map(UnixTime.init(seconds:)),
            notBefore: one.notBefore.map(UnixTime.init(seconds:)),
            published: one.published.map(UnixTime.init(seconds:)),
            now: UnixTime(seconds: Self.now)
        )
        #expect(verdict == one.verdict)
    }

    @Test("no date whatever traps")
    func absurd() {
        let times: [UnixTime?] = [nil] + [Int64.min, .max, 0, -1, 1].map(UnixTime.init(milliseconds:))
        for expires in times {
            for notBefore in times {
                for published in times {
                    for now in times {
                        _ = Self.rule.decide(
                            expiresAt: expires,
                            notBefore: notBefore,
                            published: published,
                            now: now ?? UnixTime(seconds: Self.now)
                        )
                    }
                }
            }
        }
    }

    @Test("reads the dates of a job")
    func job() throws {
        let text = "{\"app\":\"a\",\"tokens\":[\"aa\"],\"payload\":{},\"expires_at\":100,\"not_before\":50}"
        let job = try EnvelopeDecoder.decode(body: Array(text.utf8))
        func verdict(_ now: Int64) -> Admission.Verdict {
            Self.rule.decide(job, published: nil, now: UnixTime(seconds: now))
        }
        #expect(verdict(49) == .wait(until: UnixTime(seconds: 50)))
        #expect(verdict(50) == .go)
        #expect(verdict(99) == .go)
        #expect(verdict(100) == .refuse(.expired))
    }
}
