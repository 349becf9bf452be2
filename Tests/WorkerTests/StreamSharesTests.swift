import TestRandom
import Testing

@testable import Worker

@Suite struct StreamSharesTests {
    private func shares(_ weights: [Int], inFlight: [Int] = []) -> StreamShares {
        var shares = StreamShares()
        shares.share(among: weights.enumerated().map { AppTurn(app: $0.offset, weight: $0.element) })
        for (app, count) in inFlight.enumerated() { for _ in 0..<count { shares.sent(app) } }
        return shares
    }

    /// How many pushes of an app go, one after the other, until no more may.
    private func fill(_ shares: inout StreamShares, app: Int, isUrgent: Bool, free: Int, of streams: Int) -> Int {
        var count = 0
        while shares.mayGo(app, isUrgent: isUrgent, free: free - count, of: streams) {
            shares.sent(app)
            count += 1
        }
        return count
    }

    @Test func `An app alone leaves a tenth to what is urgent, and nothing to anybody else`() {
        var shares = self.shares([1])
        #expect(self.fill(&shares, app: 0, isUrgent: false, free: 1000, of: 1000) == 900)
        #expect(self.fill(&shares, app: 0, isUrgent: true, free: 100, of: 1000) == 100)
    }

    @Test func `What is never answered leaves streams to other apps, whatever its lane`() {
        var shares = self.shares([1, 1])
        #expect(self.fill(&shares, app: 0, isUrgent: false, free: 1000, of: 1000) == 800)
        #expect(self.fill(&shares, app: 0, isUrgent: true, free: 200, of: 1000) == 100)
        #expect(self.fill(&shares, app: 1, isUrgent: false, free: 100, of: 1000) == 0, "the last tenth is for now")
        #expect(self.fill(&shares, app: 1, isUrgent: true, free: 100, of: 1000) == 100)
        for _ in 0..<150 { shares.ended(0) }
        #expect(shares.mayGo(0, isUrgent: true, free: 100, of: 1000) == false, "it holds more than its half")
    }

    @Test func `Shares follow weights`() {
        let shares = self.shares([3, 1], inFlight: [700, 260])
        #expect(shares.mayGo(0, isUrgent: true, free: 40, of: 1000))
        #expect(shares.mayGo(1, isUrgent: true, free: 40, of: 1000) == false)
    }

    @Test func `A connection that Apple still holds to one stream takes any push`() {
        let shares = self.shares([1, 1])
        #expect(shares.mayGo(0, isUrgent: false, free: 1, of: 1))
        #expect(shares.mayGo(0, isUrgent: false, free: 0, of: 1) == false)
        #expect(shares.mayGo(7, isUrgent: false, free: 1, of: 1), "an app that nobody told of")
    }

    @Test func `What is in flight counts on when the apps change`() {
        var shares = self.shares([1, 1], inFlight: [500, 0])
        shares.share(among: [AppTurn(app: 0), AppTurn(app: 3, weight: 2)])
        #expect(shares.mayGo(0, isUrgent: true, free: 90, of: 1000) == false)
        #expect(shares.mayGo(3, isUrgent: true, free: 90, of: 1000))
        for _ in 0..<200 { shares.ended(0) }
        #expect(shares.mayGo(0, isUrgent: true, free: 90, of: 1000), "300 are less than a third")
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `Whatever one app does, an app that holds nothing always gets an urgent push through`(seed: UInt64) {
        var random = SeededRandom(spreading: seed)
        var shares = self.shares([Int.random(in: 1...5, using: &random), 1])
        let streams = Int.random(in: 20...2000, using: &random)
        var held = 0
        for _ in 0..<5000 {
            if held > 0, Int.random(in: 0..<4, using: &random) == 0 {
                shares.ended(0)
                held -= 1
            } else if shares.mayGo(0, isUrgent: Bool.random(using: &random), free: streams - held, of: streams) {
                shares.sent(0)
                held += 1
            }
            #expect(shares.mayGo(1, isUrgent: true, free: streams - held, of: streams), "seed \(seed)")
        }
        #expect(held > streams / 2)
    }
}
