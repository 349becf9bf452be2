import Testing

@testable import Simulator

@Suite struct StreamLimitTests {
    @Test func `The limit opens with the first good provider token`() {
        var limit = StreamLimit(settings: StreamLimit.Settings())
        #expect(limit.current == 1)
        #expect(limit.judged(isAuthorized: false, isAccepted: false) == nil)
        #expect(limit.judged(isAuthorized: true, isAccepted: false) == 1000)
        #expect(limit.judged(isAuthorized: true, isAccepted: true) == nil)
        #expect(limit.judged(isAuthorized: false, isAccepted: false) == nil)
    }

    @Test func `It falls with a rejection and comes back with a success where that is asked for`() {
        var limit = StreamLimit(settings: StreamLimit.Settings(initial: 2, full: 500, dropsAfterRejection: true))
        #expect(limit.judged(isAuthorized: true, isAccepted: true) == 500)
        #expect(limit.judged(isAuthorized: true, isAccepted: false) == 1)
        #expect(limit.judged(isAuthorized: true, isAccepted: false) == nil)
        #expect(limit.judged(isAuthorized: true, isAccepted: true) == 500)
        #expect(limit.judged(isAuthorized: true, isAccepted: false) == 1)
        #expect(limit.set(StreamLimit.Settings(initial: 2, full: 100, dropsAfterRejection: false)) == 100)
        #expect(limit.set(StreamLimit.Settings(initial: 2, full: 100, dropsAfterRejection: false)) == nil)
    }

    @Test func `Before the first good token new settings change the first limit`() {
        var limit = StreamLimit(settings: StreamLimit.Settings())
        #expect(limit.set(StreamLimit.Settings(initial: 5, full: 7)) == 5)
        #expect(limit.judged(isAuthorized: true, isAccepted: true) == 7)
    }
}
