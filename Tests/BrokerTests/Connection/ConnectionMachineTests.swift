import TestRandom
import Testing

@testable import Broker

@Suite struct ConnectionMachineTests {
    private static let limits = ConnectionMachine.Limits(channelMax: 2047, frameMax: 131_072)

    private func opened() -> ConnectionMachine {
        var machine = ConnectionMachine()
        #expect(machine.handle(.transportOpened) == [.sendProtocolHeader])
        #expect(machine.handle(.start(mechanisms: "AMQPLAIN PLAIN")) == [.sendStartOK])
        let tune = ConnectionMachine.Event.tune(channelMax: 2047, frameMax: 131_072)
        #expect(machine.handle(tune) == [.sendTuneOKAndOpen(Self.limits)])
        #expect(machine.handle(.openOK) == [.opened])
        #expect(machine.isOpen)
        return machine
    }

    @Test func `A connection opens, is blocked, unblocked and closes in good order`() {
        var machine = self.opened()
        #expect(machine.handle(.blocked("low on disk")) == [.blocked("low on disk")])
        #expect(machine.handle(.unblocked) == [.blocked(nil)])
        #expect(machine.handle(.wantsClose) == [.sendClose])
        #expect(machine.handle(.blocked("late")) == [])
        #expect(machine.handle(.closeOK) == [.ended(.closed)])
        #expect(machine.handle(.failed(.silent)) == [])
    }

    @Test func `A close during the handshake is a refusal, a later one is not`() {
        var machine = ConnectionMachine()
        _ = machine.handle(.transportOpened)
        _ = machine.handle(.start(mechanisms: "PLAIN"))
        let close = ConnectionMachine.Event.close(code: 403, text: "no")
        #expect(machine.handle(close) == [.sendCloseOK, .ended(.refused(code: 403, text: "no"))])
        machine = self.opened()
        #expect(machine.handle(close) == [.sendCloseOK, .ended(.connectionClosed(code: 403, text: "no"))])
    }

    @Test func `Both sides may close at once`() {
        var machine = self.opened()
        _ = machine.handle(.wantsClose)
        #expect(machine.handle(.close(code: 320, text: "bye")) == [.sendCloseOK, .ended(.closed)])
    }

    @Test(
        arguments: [
            (0, 0, 2047, 131_072), (100, 4096, 100, 4096), (65535, 1 << 20, 2047, 131_072), (1, 100, 1, 4096),
        ] as [(UInt16, UInt32, UInt16, Int)]
    )
    func `Limits are the lower of both sides'`(channelMax: UInt16, frameMax: UInt32, ours: UInt16, frame: Int) {
        var machine = ConnectionMachine()
        _ = machine.handle(.transportOpened)
        _ = machine.handle(.start(mechanisms: "PLAIN"))
        #expect(
            machine.handle(.tune(channelMax: channelMax, frameMax: frameMax))
                == [.sendTuneOKAndOpen(.init(channelMax: ours, frameMax: frame))]
        )
    }

    @Test func `A broker without PLAIN is left`() {
        var machine = ConnectionMachine()
        _ = machine.handle(.transportOpened)
        let actions = machine.handle(.start(mechanisms: "EXTERNAL"))
        guard case .ended(.violation)? = actions.last else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `Whatever comes in whatever order, it ends once and then is silent`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let events: [ConnectionMachine.Event] = [
            .transportOpened, .start(mechanisms: "PLAIN"), .tune(channelMax: 0, frameMax: 0), .openOK, .blocked("x"),
            .unblocked, .close(code: 320, text: "x"), .closeOK, .wantsClose, .failed(.silent),
        ]
        for _ in 0..<500 {
            var machine = ConnectionMachine()
            var endings = 0
            for _ in 0..<20 {
                // Mostly the order of a good life, so that the walk comes far.
                let happy: [ConnectionMachine.State: Int] = [
                    .connecting: 0, .awaitingStart: 1, .awaitingTune: 2, .awaitingOpen: 3,
                ]
                let isHappy = Int.random(in: 0..<4, using: &random) > 0
                let event =
                    (isHappy ? happy[machine.state].map { events[$0] } : nil) ?? events.randomElement(using: &random)!
                let wasClosed = machine.state == .closed
                let actions = machine.handle(event)
                if wasClosed { #expect(actions.isEmpty) }
                for case .ended in actions {
                    endings += 1
                    #expect(machine.state == .closed)
                }
            }
            #expect(endings == (machine.state == .closed ? 1 : 0), "seed \(seed)")
        }
    }
}
