import TestRandom
import Testing

@testable import Broker

@Suite struct DeliveryLedgerTests {
    private func id(_ tag: UInt64, epoch: UInt32 = 1) -> DeliveryID { DeliveryID(epoch: epoch, channel: 1, tag: tag) }

    private func ledger(open count: UInt64) -> DeliveryLedger {
        var ledger = DeliveryLedger()
        ledger.begin(epoch: 1)
        for tag in 0..<count { #expect(ledger.delivered(tag + 1) == true) }
        return ledger
    }

    private func settlements(_ ledger: inout DeliveryLedger) -> [DeliveryLedger.Settlement] {
        var all: [DeliveryLedger.Settlement] = []
        ledger.takeSettlements { all.append($0) }
        return all
    }

    @Test func `Acks of a turn leave as one up to the low-water mark, others one by one`() {
        var ledger = self.ledger(open: 10)
        for tag in [2, 1, 3, 7, 5] as [UInt64] { #expect(ledger.ack(self.id(tag)) == .accepted) }
        #expect(
            self.settlements(&ledger) == [.ack(3, multiple: true), .ack(7, multiple: false), .ack(5, multiple: false)]
        )
        #expect(ledger.openCount == 5)
        #expect(ledger.ack(self.id(4)) == .accepted)
        #expect(self.settlements(&ledger) == [.ack(4, multiple: false)])
        #expect(ledger.ack(self.id(6)) == .accepted)
        #expect(ledger.ack(self.id(8)) == .accepted)
        #expect(self.settlements(&ledger) == [.ack(8, multiple: true)])
        #expect(self.settlements(&ledger) == [])
    }

    @Test func `A multiple ack never names a rejected tag`() {
        var ledger = self.ledger(open: 4)
        _ = ledger.ack(self.id(1))
        _ = ledger.ack(self.id(2))
        _ = ledger.reject(self.id(3), requeue: true)
        #expect(self.settlements(&ledger) == [.reject(3, requeue: true), .ack(2, multiple: true)])
        #expect(ledger.openCount == 1)
    }

    @Test func `A delivery is settled once, and not when its channel is gone`() {
        var ledger = self.ledger(open: 3)
        #expect(ledger.ack(self.id(1)) == .accepted)
        #expect(ledger.ack(self.id(1)) == .refused)
        #expect(ledger.reject(self.id(1), requeue: false) == .refused)
        #expect(ledger.ack(self.id(4)) == .refused)
        #expect(ledger.ack(self.id(0)) == .refused)
        #expect(ledger.refusedCount == 4)
        #expect(ledger.end() == 2)
        #expect(ledger.ack(self.id(2)) == .stale)
        ledger.begin(epoch: 2)
        #expect(ledger.delivered(1) == true)
        #expect(ledger.delivered(2) == true)
        #expect(ledger.ack(self.id(2)) == .stale)
        #expect(ledger.staleCount == 2)
        #expect(self.settlements(&ledger) == [])
        #expect(ledger.openCount == 2)
    }

    @Test func `Tags come one after the other`() {
        var ledger = self.ledger(open: 2)
        #expect(ledger.delivered(2) == false)
        #expect(ledger.delivered(4) == false)
        #expect(ledger.delivered(3) == true)
    }

    /// The broker as RabbitMQ's channel does it: a settlement must name a tag that it holds.
    private struct Model {
        var held: Set<UInt64> = []
        var acked: Set<UInt64> = []
        var rejected: Set<UInt64> = []
        var frames = 0

        mutating func apply(_ settlement: DeliveryLedger.Settlement) {
            self.frames += 1
            switch settlement {
            case .ack(let tag, let multiple):
                #expect(self.held.contains(tag))
                let tags = multiple ? self.held.filter { $0 <= tag } : [tag]
                self.acked.formUnion(tags)
                self.held.subtract(tags)
            case .reject(let tag, _):
                #expect(self.held.contains(tag))
                self.rejected.insert(tag)
                self.held.remove(tag)
            }
        }
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `On random walks the broker ends up with what was settled, and with nothing else`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var ledger = DeliveryLedger()
        var model = Model()
        var epoch: UInt32 = 0
        var next: UInt64 = 1
        var open: Set<UInt64> = []
        var acked: Set<UInt64> = []
        var rejected: Set<UInt64> = []
        for step in 0..<600 {
            if epoch == 0 || Int.random(in: 0..<200, using: &random) == 0 {
                #expect(ledger.end() == open.count)
                epoch += 1
                ledger.begin(epoch: epoch)
                (model, next, open, acked, rejected) = (Model(), 1, [], [], [])
            }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                for _ in 0..<Int.random(in: 1...(step % 7 == 0 ? 60 : 5), using: &random) {
                    #expect(ledger.delivered(next) == true)
                    model.held.insert(next)
                    open.insert(next)
                    next += 1
                }
            case 4..<8:
                for _ in 0..<Int.random(in: 1...20, using: &random) {
                    // Mostly old ones, as work finishes roughly in order.
                    guard let oldest = open.min() else { break }
                    let tag = Bool.random(using: &random) ? oldest : UInt64.random(in: 1..<next, using: &random)
                    let isReject = Int.random(in: 0..<8, using: &random) == 0
                    let answer =
                        isReject
                        ? ledger.reject(self.id(tag, epoch: epoch), requeue: true)
                        : ledger.ack(self.id(tag, epoch: epoch))
                    #expect(answer == (open.contains(tag) ? .accepted : .refused))
                    guard open.remove(tag) != nil else { continue }
                    if isReject { rejected.insert(tag) } else { acked.insert(tag) }
                }
            case 8:
                #expect(ledger.ack(self.id(1, epoch: epoch &- 1)) == .stale)
            default:
                ledger.takeSettlements { model.apply($0) }
                #expect(model.acked == acked, "seed \(seed)")
                #expect(model.rejected == rejected, "seed \(seed)")
                #expect(model.held == open, "seed \(seed)")
            }
            #expect(ledger.openCount == open.count, "seed \(seed)")
        }
    }
}
