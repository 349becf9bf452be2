internal import Broker
internal import Loop
internal import Push

/// Ends flights: publishes what must go on, waits for the broker's confirm, and only then acknowledges.
///
/// That order is law. A crash between the two makes a duplicate, never a loss. A copy that the broker refused, returned
/// or left without an answer is published again until it is confirmed or the worker gives up its delivery.
final class Settler {
    private struct Pending {
        let flight: FlightID
        let copy: Copy
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

    func publish(_ copy: Copy, for flight: FlightID) {
        self.tryToPublish(Pending(flight: flight, copy: copy))
    }

    private func tryToPublish(_ item: Pending) {
        let token = self.nextToken
        guard self.publisher.publish(item.copy.message, token: token) else { return self.putOff(item) }
        self.nextToken += 1
        self.pending[token] = item
    }

    private func putOff(_ item: Pending) {
        self.waiting.append(item)
        guard self.retry == nil else { return }
        self.retry = self.loop.after(.seconds(1)) { [weak self] in
            guard let self else { return }
            self.retry = nil
            self.tryWaiting()
        }
    }

    private func tryWaiting() {
        let items = self.waiting
        self.waiting = []
        for item in items where self.worker.isInFlight(item.flight) {
            if !self.worker.gaveUp(item.flight) { self.tryToPublish(item) }
        }
    }
}

extension Settler: PublisherDelegate {
    func publisher(_: Publisher, didFinish result: PublishResult) {
        guard let item = self.pending.removeValue(forKey: result.token), self.worker.isInFlight(item.flight) else {
            return
        }
        if result.outcome == .confirmed { return self.worker.confirmed(item.copy, of: item.flight) }
        self.worker.publishFailed(item.copy, of: item.flight, result.outcome)
        if !self.worker.gaveUp(item.flight) { self.putOff(item) }
    }

    func publisherCanAccept(_: Publisher) {
        self.tryWaiting()
    }
}
