import Push

@testable import Broker

/// One RabbitMQ: a quorum queue per line, delay queues, prefetch, redelivery and confirms.
///
/// What a connection carries arrives in order, or not at all once the connection is cut. What the broker has confirmed
/// it keeps, through any restart.
final class BrokerModel {
    /// A message in a queue.
    struct Stored {
        let message: SimulatedMessage
        var deliveryCount = 0
    }

    /// One channel that consumes from one queue.
    final class Channel {
        let line: Int
        let link: Link
        let epoch: UInt32
        var nextTag: UInt64 = 1
        var open: [(tag: UInt64, consumer: Int, stored: Stored)] = []
        /// The consumer that takes deliveries now; 0 for none.
        var consumer = 0
        var prefetch = 0
        var isOpen = true

        init(line: Int, link: Link, epoch: UInt32) {
            self.line = line
            self.link = link
            self.epoch = epoch
        }

        var hasRoom: Bool {
            self.isOpen && self.consumer > 0 && self.open.count(where: { $0.consumer == self.consumer }) < self.prefetch
        }
    }

    /// One AMQP connection of a worker.
    final class Link {
        unowned let worker: SimulatedWorker
        /// What is sent is lost, both ways.
        var isCut = false
        var isOpenAtBroker = true
        var channels: [Channel] = []
        var lastToBroker = 0
        var lastToWorker = 0
        /// How many publishes have arrived.
        var published: UInt64 = 0

        init(worker: SimulatedWorker) {
            self.worker = worker
        }
    }

    unowned var simulation: FleetSimulation!
    private var ready: [[Stored]]
    private var channels: [[Channel]]
    private var turns: [Int]
    private(set) var links: [Link] = []
    /// When the last message of a delay queue leaves it: only its head can expire.
    private var delayEnds: [DelayLevel: Int] = [:]
    private var consumers = 0
    private var epochs: UInt32 = 0
    var awayUntil = 0
    /// How many of 100 publishes are refused.
    var nacks = 0

    init(lines: Int) {
        self.ready = Array(repeating: [], count: lines)
        self.channels = Array(repeating: [], count: lines)
        self.turns = Array(repeating: 0, count: lines)
    }

    var isAway: Bool { self.simulation.now < self.awayUntil }
    var isEmpty: Bool { self.ready.allSatisfy(\.isEmpty) && self.channels.joined().allSatisfy { $0.open.isEmpty } }
    var readyCount: Int { self.ready.reduce(0) { $0 + $1.count } }
    var openDeliveries: Int { self.channels.joined().reduce(0) { $0 + $1.open.count } }

    // MARK: Connections

    func connect(_ worker: SimulatedWorker) -> Link {
        let link = Link(worker: worker)
        self.links.append(link)
        return link
    }

    /// Something a worker sends.
    func receive(on link: Link, _ body: @escaping () -> Void) {
        guard !link.isCut else { return }
        link.lastToBroker = max(link.lastToBroker, self.simulation.now + self.simulation.some(1...10))
        self.simulation.schedule(after: link.lastToBroker - self.simulation.now) {
            if link.isOpenAtBroker { body() }
        }
    }

    private func send(on link: Link, _ body: @escaping () -> Void) {
        guard !link.isCut, link.worker.isAlive else { return }
        link.lastToWorker = max(link.lastToWorker, self.simulation.now + self.simulation.some(1...10))
        self.simulation.on(link.worker, after: link.lastToWorker - self.simulation.now, body)
    }

    /// The broker's end of a connection is over: what was open goes back.
    func close(_ link: Link) {
        guard link.isOpenAtBroker else { return }
        link.isOpenAtBroker = false
        self.links.removeAll { $0 === link }
        for channel in link.channels { self.close(channel) }
        self.send(on: link) { link.worker.linkLost(link) }
    }

    private func close(_ channel: Channel) {
        channel.isOpen = false
        channel.consumer = 0
        self.channels[channel.line].removeAll { $0 === channel }
        let back = channel.open
        channel.open = []
        self.requeue(back.map(\.stored), line: channel.line)
    }

    private func requeue(_ stored: [Stored], line: Int) {
        guard !stored.isEmpty else { return }
        self.ready[line].insert(
            contentsOf: stored.map { Stored(message: $0.message, deliveryCount: $0.deliveryCount + 1) },
            at: 0
        )
        self.dispatch(line)
    }

    /// Every connection ends; queues stay.
    func restart(awayFor time: Int) {
        self.awayUntil = self.simulation.now + time
        for link in self.links { self.close(link) }
    }

    // MARK: Consuming

    func openChannel(line: Int, on link: Link) {
        self.receive(on: link) { [self] in
            self.epochs += 1
            let channel = Channel(line: line, link: link, epoch: self.epochs)
            link.channels.append(channel)
            self.channels[line].append(channel)
            self.send(on: link) { link.worker.channelOpened(channel) }
        }
    }

    func lookForQueue(on channel: Channel) {
        self.receive(on: channel.link) { [self] in
            self.send(on: channel.link) { channel.link.worker.consumer(channel, .queueFound) }
        }
    }

    func consume(on channel: Channel, prefetch: Int) {
        self.receive(on: channel.link) { [self] in
            self.consumers += 1
            channel.consumer = self.consumers
            channel.prefetch = prefetch
            self.send(on: channel.link) { channel.link.worker.consumer(channel, .started) }
            self.dispatch(channel.line)
        }
    }

    func cancel(on channel: Channel) {
        self.receive(on: channel.link) { [self] in
            channel.consumer = 0
            self.send(on: channel.link) { channel.link.worker.consumer(channel, .cancelled) }
        }
    }

    /// Hands out what is ready, one to each consumer that has room in turn.
    private func dispatch(_ line: Int) {
        while !self.ready[line].isEmpty {
            let channels = self.channels[line]
            guard
                let step = channels.indices.first(where: { channels[(self.turns[line] + $0) % channels.count].hasRoom })
            else { return }
            let index = (self.turns[line] + step) % channels.count
            self.turns[line] = index + 1
            let channel = channels[index]
            let stored = self.ready[line].removeFirst()
            let tag = channel.nextTag
            channel.nextTag += 1
            channel.open.append((tag, channel.consumer, stored))
            if stored.deliveryCount > 0 { self.simulation.tally.redelivered += 1 }
            let delivery = SimulatedDelivery(
                id: DeliveryID(epoch: channel.epoch, channel: UInt16(line + 1), tag: tag),
                message: stored.message,
                deliveryCount: stored.deliveryCount
            )
            self.send(on: channel.link) { channel.link.worker.deliver(delivery, on: channel) }
        }
    }

    func settle(_ settlements: [DeliveryLedger.Settlement], on channel: Channel) {
        self.receive(on: channel.link) { [self] in
            for settlement in settlements {
                switch settlement {
                case .ack(let tag, let multiple): self.settle(tag, multiple: multiple, on: channel, requeue: nil)
                case .reject(let tag, let requeue): self.settle(tag, multiple: false, on: channel, requeue: requeue)
                }
            }
            self.dispatch(channel.line)
        }
    }

    private func settle(_ tag: UInt64, multiple: Bool, on channel: Channel, requeue: Bool?) {
        guard channel.isOpen else { return }
        guard channel.open.contains(where: { $0.tag == tag }) else {
            return self.simulation.fail("delivery \(tag) of queue \(channel.line) is settled twice")
        }
        let settled = channel.open.filter { multiple ? $0.tag <= tag : $0.tag == tag }
        channel.open.removeAll { multiple ? $0.tag <= tag : $0.tag == tag }
        if requeue == true { return self.requeue(settled.map(\.stored), line: channel.line) }
        for (_, _, stored) in settled { self.simulation.leftQueue(stored.message) }
    }

    // MARK: Publishing

    /// A publish with a confirm.
    func publish(_ copy: SimulatedCopy, number: UInt64, on link: Link) {
        self.receive(on: link) { [self] in
            let isNack = self.simulation.some(0...99) < self.nacks
            if isNack {
                self.simulation.tally.nacked += 1
            } else {
                self.store(copy.message, copy.target)
            }
            self.send(on: link) { link.worker.confirmed(number, isNack: isNack, on: link) }
        }
    }

    func store(_ message: SimulatedMessage, _ target: SimulatedCopy.Target) {
        switch target {
        case .work:
            self.simulation.journal.carries(message)
            self.ready[message.line].append(Stored(message: message))
            self.dispatch(message.line)
        case .delay(let level, let expiration):
            self.simulation.journal.carries(message)
            let end = max(self.simulation.now + Int(expiration.milliseconds), self.delayEnds[level] ?? 0)
            self.delayEnds[level] = end
            self.simulation.schedule(after: end - self.simulation.now) { [self] in
                self.ready[message.line].append(Stored(message: message))
                self.dispatch(message.line)
            }
        case .dead:
            for token in message.tokens { self.simulation.end(token, \.dead) }
        case .feedback:
            for token in message.tokens { self.simulation.end(token, \.gone) }
        }
    }
}

struct SimulatedDelivery {
    let id: DeliveryID
    let message: SimulatedMessage
    let deliveryCount: Int
    var redelivered: Bool { self.deliveryCount > 0 }
}

/// What a worker publishes, and which tokens of its flight are done by that.
struct SimulatedCopy {
    enum Target {
        case work
        case delay(DelayLevel, expiration: Duration)
        case dead
        case feedback
    }

    let message: SimulatedMessage
    let target: Target
    let tokens: [Int]
}
