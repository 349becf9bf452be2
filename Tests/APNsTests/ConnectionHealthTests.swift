import APNs
import Push
import Testing

@Suite struct ConnectionHealthTests {
    private let start = MonotonicTime(nanoseconds: 0)

    private func answer(
        _ health: inout ConnectionHealth,
        _ status: Int,
        _ reason: ApnsReason? = nil,
        at time: Duration = .zero
    ) -> ConnectionHealth.Verdict {
        let reply = Reply(status: status, reason: reason)
        return health.answered(reply, Classification.classify(reply), at: self.start + time)
    }

    private func fail(
        _ health: inout ConnectionHealth,
        _ failure: SendFailure,
        open: Int = 1,
        at time: Duration = .zero
    ) -> ConnectionHealth.Verdict {
        health.failed(failure, openStreams: open, at: self.start + time)
    }

    @Test(arguments: [500, 503, 502])
    func `Five answers of 5xx in a row retire, an accepted push in between begins anew`(status: Int) {
        var health = ConnectionHealth(at: self.start)
        for _ in 0..<4 { #expect(self.answer(&health, status) == .keep) }
        #expect(health.accepted() == false)
        for number in 0..<4 { #expect(self.answer(&health, status, at: .milliseconds(100 * number)) == .keep) }
        #expect(self.answer(&health, status, at: .milliseconds(400)) == .retire)
    }

    @Test func `Answers of 5xx that come together are no row of them: a batch is sorted`() {
        var health = ConnectionHealth(at: self.start)
        for batch in 0..<10 {
            let time = Duration.seconds(batch)
            for _ in 0..<50 { _ = health.accepted() }
            for _ in 0..<50 { #expect(self.answer(&health, 503, at: time) == .keep) }
        }
        #expect(self.answer(&health, 503, at: .seconds(9) + .milliseconds(249)) == .keep)
        #expect(self.answer(&health, 503, at: .seconds(9) + .milliseconds(250)) == .retire)
    }

    @Test func `Three requests in a row without an answer retire`() {
        var health = ConnectionHealth(at: self.start)
        for _ in 0..<2 { #expect(self.fail(&health, .maybeSent(.timeout)) == .keep) }
        _ = health.accepted()
        for _ in 0..<2 { #expect(self.fail(&health, .maybeSent(.timeout)) == .keep) }
        _ = self.answer(&health, 400, .badDeviceToken)
        for _ in 0..<2 { #expect(self.fail(&health, .maybeSent(.timeout)) == .keep) }
        #expect(self.fail(&health, .maybeSent(.timeout)) == .retire)
    }

    @Test func `A 500 or silence after more than a minute without a request retires at once`() {
        for silence in [Duration.seconds(61), .seconds(59)] {
            var health = ConnectionHealth(at: self.start)
            health.sent(at: self.start + silence)
            #expect((self.answer(&health, 500, .internalServerError) == .retire) == (silence == .seconds(61)))
            health = ConnectionHealth(at: self.start)
            health.sent(at: self.start + silence)
            #expect((self.fail(&health, .maybeSent(.timeout)) == .retire) == (silence == .seconds(61)))
        }
        // Only the first answer tells.
        var health = ConnectionHealth(at: self.start)
        health.sent(at: self.start + .seconds(61))
        _ = health.accepted()
        #expect(self.answer(&health, 500, .internalServerError) == .keep)
    }

    @Test func `What says that the connection is over retires at once`() {
        var health = ConnectionHealth(at: self.start)
        #expect(self.answer(&health, 503, .shutdown) == .retire)
        #expect(self.answer(&health, 400, .idleTimeout) == .retire)
        #expect(self.answer(&health, 403, .expiredProviderToken) == .retire)
        #expect(self.fail(&health, .maybeSent(.connectionLost)) == .retire)
        #expect(self.fail(&health, .maybeSent(.protocolViolation)) == .retire)
        #expect(self.fail(&health, .notSent(.goAwayUnprocessed)) == .retire)
    }

    @Test func `What concerns one request leaves the connection alone`() {
        var health = ConnectionHealth(at: self.start)
        for _ in 0..<20 {
            #expect(self.answer(&health, 400, .badDeviceToken) == .keep)
            #expect(self.answer(&health, 410, .unregistered) == .keep)
            #expect(self.answer(&health, 429, .tooManyRequests) == .keep)
            #expect(self.fail(&health, .notSent(.streamRefused)) == .keep)
            #expect(self.fail(&health, .maybeSent(.reset(code: 2))) == .keep)
        }
        #expect(health.streamCap == 1000)
    }

    @Test func `ENHANCE_YOUR_CALM halves what was open, once for all streams reset together, and never below one`() {
        var health = ConnectionHealth(at: self.start)
        let calm = SendFailure.maybeSent(.reset(code: 11))
        for open in (301...400).reversed() {
            #expect(self.fail(&health, calm, open: open, at: .milliseconds(400 - open)) == .keep)
        }
        #expect(health.streamCap == 200)
        for second in 2..<20 { _ = self.fail(&health, calm, open: health.streamCap, at: .seconds(second)) }
        #expect(health.streamCap == 1)
    }

    @Test func `Accepted pushes win back the streams, slowly and never more than there were`() {
        var health = ConnectionHealth(at: self.start)
        _ = self.fail(&health, .maybeSent(.reset(code: 11)), open: 200)
        var rises: [Int] = []
        for _ in 0..<100 where health.accepted() { rises.append(health.streamCap) }
        #expect(rises == [106])
        for _ in 0..<100_000 where health.accepted() { rises.append(health.streamCap) }
        #expect(rises == rises.sorted() && rises.last == 1000)
        #expect(zip(rises, rises.dropFirst()).allSatisfy { $1 - $0 <= max(1, $0 / 16) })
    }
}
