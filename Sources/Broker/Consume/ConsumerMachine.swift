/// The life of consuming from one queue, over many connections and channels.
///
/// Each has a channel of its own, so that a channel error concerns one queue only. A new prefetch needs a new consumer
/// on the same channel (`basic.qos` holds for consumers that begin after it, https://www.rabbitmq.com/consumer-prefetch.html),
/// so it is: cancel, wait for the answer, set, consume again. What is open stays open and the broker does not count it
/// against the new consumer (seen on 3.10.8), so a smaller one begins only when what is open fits. Before the first
/// consume the queue is looked for passively, so that a missing one is known as missing.
struct ConsumerMachine {
    enum State: Equatable {
        /// There is no connection.
        case detached
        case openingChannel
        case lookingForQueue
        /// The queue is there and nothing is consumed.
        case idle
        case starting(prefetch: Int)
        case consuming(prefetch: Int)
        case cancelling
        /// Something went wrong; the next try is due later.
        case waiting
        case stopped
    }

    enum Event: Equatable {
        case attached
        case detached
        case channelOpened
        case queueFound
        case started
        case cancelled
        case cancelledByBroker
        case channelClosed
        case retryDue
        /// How much may be held; 0 for nothing.
        case wants(Int)
        /// Deliveries were settled.
        case settled
        case stop
    }

    enum Action: Equatable {
        case openChannel
        case lookForQueue
        case start(prefetch: Int)
        case cancel
        case retryLater
        case closeChannel
    }

    private(set) var state = State.detached
    private(set) var wanted: Int
    private var hasChannel = false

    init(wanted: Int) {
        self.wanted = max(0, wanted)
    }

    /// Whether `settled` may have an effect.
    var isWaitingForRoom: Bool { self.state == .idle && self.wanted > 0 }

    /// - Parameter open: deliveries that wait for their settlement.
    mutating func handle(_ event: Event, open: Int) -> Action? {
        switch (self.state, event) {
        case (.stopped, _):
            return nil
        case (_, .wants(let count)):
            self.wanted = max(0, count)
            return self.reconcile(open: open)
        case (_, .stop):
            let action = self.hasChannel ? Action.closeChannel : nil
            self.hasChannel = false
            self.state = .stopped
            return action
        case (_, .detached):
            self.hasChannel = false
            self.state = .detached
            return nil
        case (.detached, .attached):
            return self.openChannel()
        case (.detached, _):
            return nil
        case (_, .channelClosed):
            self.hasChannel = false
            self.state = .waiting
            return .retryLater
        case (.openingChannel, .channelOpened):
            self.hasChannel = true
            self.state = .lookingForQueue
            return .lookForQueue
        case (.idle, .settled):
            return self.reconcile(open: open)
        case (.lookingForQueue, .queueFound), (.cancelling, .cancelled):
            self.state = .idle
            return self.reconcile(open: open)
        case (.starting(let prefetch), .started):
            self.state = .consuming(prefetch: prefetch)
            return self.reconcile(open: open)
        case (.starting, .cancelledByBroker), (.consuming, .cancelledByBroker):
            // The channel lives on, and with it the deliveries that are open.
            self.state = .waiting
            return .retryLater
        case (.waiting, .retryDue):
            guard self.hasChannel else { return self.openChannel() }
            self.state = .lookingForQueue
            return .lookForQueue
        default:
            // While cancelling, the broker's own cancel changes nothing: its answer still comes.
            return nil
        }
    }

    private mutating func openChannel() -> Action {
        self.state = .openingChannel
        return .openChannel
    }

    private mutating func reconcile(open: Int) -> Action? {
        switch self.state {
        case .idle where self.wanted > 0 && open <= self.wanted:
            self.state = .starting(prefetch: self.wanted)
            return .start(prefetch: self.wanted)
        case .consuming(let prefetch) where prefetch != self.wanted:
            self.state = .cancelling
            return .cancel
        default:
            return nil
        }
    }
}
