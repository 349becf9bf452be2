internal import Broker
internal import Loop
internal import Push

/// Ends flights: publishes what must go on, waits for the broker's confirm, and only then acknowledges.
///
/// That order is law. A crash between the two makes a duplicate, never a loss. A copy that the broker refused, returned
/// or left without an answer is published again until it is confirmed or the worker gives up its delivery.
final class Settler {
    /// A copy on its way: done when the last of its messages is confirmed.
    private final class Shipment {
        let flight: FlightID
        let copy: Copy
        var unconfirmed: Int
        var isGivenUp = false

        init(flight: FlightID, copy: Copy) {
            self.flight = flight
            self.copy = copy
            self.unconfirmed = copy.messages.count
        }
    }

    /// One message of it.
    private struct Pending {
        let shipment: Shipment
        let index: Int
        var message: Message { self.shipment.copy.messages[self.index] }
    }

    private let loop: EventLoop
    private var publisher: Publisher!
    private unowned let worker: WorkerLoop
    private var pending: [UInt64: Pending] = [:]
    private var nextToken: UInt64 = 0
    /// Copies that the publisher's outbox had no room for, or that wait a moment before they are tried again.
    private var waiting: [Pending] = []
    private var retry: Deadline?

    init(client: BrokerClient, loop: EventLoop, worker: WorkerLoop) {
        self.loop = loop
        self.worker = worker
        self.publisher = client.makePublisher(delegate: self)
    }

    /// Copies that the broker has not confirmed yet.
    var unconfirmed: Int { self.pending.count + self.waiting.count }

    func publish(_ copy: Copy, for flight: FlightID) {
        let shipment = Shipment(flight: flight, copy: copy)
        for index in copy.messages.indices { self.tryToPublish(Pending(shipment: shipment, index: index)) }
    }

    private func tryToPublish(_ item: Pending) {
        let token = self.nextToken
        guard self.publisher.publish(item.message, token: token) else { return self.putOff(item) }
        self.nextToken += 1
        self.pending[token] = item
    }

    private func putOff(_ item: Pending) {
        self.waiting.append(item)
        guard self.retry == nil else { return }
        self.retry = self.loop.after(.seconds(1)) { [unowned self] in
            self.retry = nil
            self.tryWaiting()
        }
    }

    private func tryWaiting() {
        let items = self.waiting
        self.waiting = []
        for item in items where self.isWanted(item.shipment) { self.tryToPublish(item) }
    }

    /// Whether a message of it is worth another try.
    private func isWanted(_ shipment: Shipment) -> Bool {
        guard !shipment.isGivenUp, self.worker.isInFlight(shipment.flight) else { return false }
        shipment.isGivenUp = self.worker.gaveUp(shipment.flight)
        return !shipment.isGivenUp
    }
}

extension Settler: PublisherDelegate {
    func publisher(_: Publisher, didFinish result: PublishResult) {
        guard let item = self.pending.removeValue(forKey: result.token), !item.shipment.isGivenUp,
            self.worker.isInFlight(item.shipment.flight)
        else { return }
        let shipment = item.shipment
        if result.outcome == .confirmed {
            shipment.unconfirmed -= 1
            if shipment.unconfirmed == 0 { self.worker.confirmed(shipment.copy, of: shipment.flight) }
            return
        }
        self.worker.publishFailed(item.message, of: shipment.copy, for: shipment.flight, result.outcome)
        if self.isWanted(shipment) { self.putOff(item) }
    }

    func publisherCanAccept(_: Publisher) {
        self.tryWaiting()
    }
}
