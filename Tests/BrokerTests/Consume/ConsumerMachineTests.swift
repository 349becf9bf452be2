import TestRandom
import Testing

@testable import Broker

extension ConsumerMachine {
    /// With nothing open.
    fileprivate mutating func handle(_ event: Event) -> Action? { self.handle(event, open: 0) }
}

@Suite struct ConsumerMachineTests {
    private func consuming(_ prefetch: Int) -> ConsumerMachine {
        var machine = ConsumerMachine(wanted: prefetch)
        #expect(machine.handle(.attached) == .openChannel)
        #expect(machine.handle(.channelOpened) == .lookForQueue)
        #expect(machine.handle(.queueFound) == .start(prefetch: prefetch))
        #expect(machine.handle(.started) == nil)
        #expect(machine.state == .consuming(prefetch: prefetch))
        return machine
    }

    @Test func `A new prefetch is cancel, then consume again; the last one asked for counts`() {
        var machine = self.consuming(10)
        #expect(machine.handle(.wants(10)) == nil)
        #expect(machine.handle(.wants(20)) == .cancel)
        #expect(machine.handle(.wants(30)) == nil)
        #expect(machine.handle(.cancelled) == .start(prefetch: 30))
        #expect(machine.handle(.wants(5)) == nil)
        #expect(machine.handle(.started) == .cancel)
        #expect(machine.handle(.wants(0)) == nil)
        #expect(machine.handle(.cancelled) == nil)
        #expect(machine.state == .idle)
        #expect(machine.handle(.wants(7)) == .start(prefetch: 7))
    }

    @Test func `A smaller prefetch begins when what is open fits`() {
        var machine = self.consuming(10)
        #expect(machine.handle(.wants(4), open: 10) == .cancel)
        #expect(machine.handle(.cancelled, open: 10) == nil)
        #expect(machine.isWaitingForRoom)
        #expect(machine.handle(.settled, open: 5) == nil)
        #expect(machine.handle(.settled, open: 4) == .start(prefetch: 4))
        #expect(!machine.isWaitingForRoom)
    }

    @Test func `Wanting nothing still looks whether the queue is there`() {
        var machine = ConsumerMachine(wanted: 0)
        #expect(machine.handle(.attached) == .openChannel)
        #expect(machine.handle(.channelOpened) == .lookForQueue)
        #expect(machine.handle(.channelClosed) == .retryLater)
        #expect(machine.handle(.retryDue) == .openChannel)
    }

    @Test func `A queue deleted under the consumer is looked for on the same channel, so that open tags live on`() {
        var machine = self.consuming(10)
        #expect(machine.handle(.cancelledByBroker) == .retryLater)
        #expect(machine.handle(.retryDue) == .lookForQueue)
        #expect(machine.handle(.channelClosed) == .retryLater)
        #expect(machine.handle(.retryDue) == .openChannel)
        #expect(machine.handle(.channelOpened) == .lookForQueue)
        #expect(machine.handle(.queueFound) == .start(prefetch: 10))
    }

    @Test func `A retry that is due after the connection was lost does nothing`() {
        var machine = self.consuming(10)
        #expect(machine.handle(.channelClosed) == .retryLater)
        #expect(machine.handle(.detached) == nil)
        #expect(machine.handle(.retryDue) == nil)
        #expect(machine.handle(.attached) == .openChannel)
    }

    /// A broker that answers what it was asked, at some time, and sometimes closes, cancels or vanishes.
    private struct Model {
        var attached = false
        var channel = false
        var consumer: Int?
        var pending: [ConsumerMachine.Event] = []
        var retry = false

        mutating func apply(_ action: ConsumerMachine.Action?) {
            switch action {
            case nil: break
            case .openChannel:
                #expect(self.attached && !self.channel)
                self.channel = true
                self.pending.append(.channelOpened)
            case .lookForQueue:
                #expect(self.channel && self.consumer == nil)
                self.pending.append(.queueFound)
            case .start(let prefetch):
                #expect(self.channel && self.consumer == nil && prefetch > 0)
                self.consumer = prefetch
                self.pending.append(.started)
            case .cancel:
                #expect(self.consumer != nil)
                self.pending.append(.cancelled)
            case .retryLater: self.retry = true
            case .closeChannel: self.channel = false
            }
            #expect(self.pending.count <= 1, "one question at a time")
        }
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `On random walks there is one question at a time, and in the end what is wanted is consumed`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var machine = ConsumerMachine(wanted: 3)
        var model = Model()
        func step(_ event: ConsumerMachine.Event) { model.apply(machine.handle(event)) }
        func answer() {
            guard !model.pending.isEmpty else { return }
            let event = model.pending.removeFirst()
            if event == .cancelled { model.consumer = nil }
            step(event)
        }
        for _ in 0..<2000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9: answer()
            case 9..<12: step(.wants(Int.random(in: 0...4, using: &random)))
            case 12 where model.attached:
                (model.attached, model.channel, model.consumer, model.pending) = (false, false, nil, [])
                step(.detached)
            case 13..<15 where !model.attached:
                model.attached = true
                step(.attached)
            case 15 where model.channel:
                (model.channel, model.consumer, model.pending) = (false, nil, [])
                step(.channelClosed)
            case 16 where model.consumer != nil && model.pending.isEmpty:
                model.consumer = nil
                step(.cancelledByBroker)
            case 17 where model.retry:
                model.retry = false
                step(.retryDue)
            default: break
            }
        }
        if !model.attached {
            model.attached = true
            step(.attached)
        }
        for _ in 0..<20 {
            if model.pending.isEmpty, model.retry {
                model.retry = false
                step(.retryDue)
            }
            answer()
        }
        #expect(model.consumer == (machine.wanted == 0 ? nil : machine.wanted), "seed \(seed)")
        step(.stop)
        #expect(!model.channel)
        #expect(machine.handle(.attached) == nil)
    }
}
