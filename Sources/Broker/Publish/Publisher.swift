internal import Loop
internal import Push

/// Publishes with confirms, and answers for every message it took: once, with what became of it.
///
/// Messages wait here, in order, while there is no connection, while the broker is blocked, or while too many are
/// unconfirmed. How much may wait is bounded; beyond that `publish` says no and the message stays where it came from.
/// A message that was sent and lost its connection is reported as unknown and never sent again by itself.
package final class Publisher {
    package struct Settings: Sendable {
        /// Messages that wait or are unconfirmed, at most; default 10,000.
        package var messageLimit = 10_000
        /// Bytes of bodies that wait, at most; default 32 MiB.
        package var byteLimit = 32 << 20
        /// Messages sent and unconfirmed, at most; default 2,000.
        package var unconfirmedLimit = 2000
        /// How long a sent message may go without a confirm; default 10 s. The time in which the broker says that it
        /// is blocked does not count.
        package var confirmTimeout = Duration.seconds(10)

        package init() {}
    }

    private let settings: Settings
    private let loop: EventLoop
    private weak var delegate: (any PublisherDelegate)?
    private var backoff: ReconnectBackoff
    private var connection: Connection?
    private var channel: Channel?
    private var isReady = false
    private var isBlocked = false
    private var hasRefused = false
    private var hasEnded = false
    private var ledger = ConfirmLedger()
    private var queue: [(message: Message, token: UInt64)] = []
    private var head = 0
    private var queuedBytes = 0
    private var expiry: Deadline?
    private var retry: Deadline?

    init(
        _ settings: Settings,
        backoff: ReconnectBackoff,
        on loop: EventLoop,
        delegate: any PublisherDelegate
    ) {
        self.settings = settings
        self.backoff = backoff
        self.loop = loop
        self.delegate = delegate
    }

    /// Messages that wait to be sent.
    package var queuedCount: Int { self.queue.count - self.head }
    /// Messages sent that wait for the broker's answer.
    package var unconfirmedCount: Int { self.ledger.count }

    /// Whether `publish` will take a message now.
    package var canAccept: Bool {
        !self.hasEnded && self.queuedCount + self.ledger.count < self.settings.messageLimit
            && self.queuedBytes < self.settings.byteLimit
    }

    /// Takes a message; it leaves when the turn ends, with all others of the turn.
    /// - Parameter token: comes back with the outcome, which is reported exactly once and never from within this call.
    /// - Returns: false if too much is waiting; nothing is reported then, and `publisherCanAccept` is called later.
    /// - Precondition: `message.problem` is nil.
    package func publish(_ message: consuming Message, token: UInt64) -> Bool {
        guard self.canAccept else {
            self.hasRefused = true
            return false
        }
        self.queuedBytes += message.body.count
        self.queue.append((message, token))
        self.channel?.setNeedsFlush()
        return true
    }

    // MARK: The connection

    func attach(_ connection: Connection) {
        self.connection = connection
        self.isBlocked = connection.blockedReason != nil
        self.openChannel()
    }

    func detach() {
        self.connection = nil
        self.isBlocked = false
        self.retry?.cancel()
    }

    /// Answers for everything that still waits.
    func end() {
        self.hasEnded = true
        let waiting = self.queue[self.head...]
        self.queue = []
        self.head = 0
        self.queuedBytes = 0
        for (_, token) in waiting {
            self.delegate?.publisher(self, didFinish: PublishResult(token: token, outcome: .notSent))
        }
    }

    func didChangeBlocked(_ reason: String?) {
        self.isBlocked = reason != nil
        guard self.isBlocked else {
            self.ledger.holdExpiry(until: self.loop.now + self.settings.confirmTimeout)
            self.setExpiry()
            self.channel?.setNeedsFlush()
            return
        }
        self.ledger.holdExpiry(until: .distantFuture)
    }

    private func openChannel() {
        self.isReady = false
        self.channel = self.connection?.openChannel(self)
    }

    // MARK: Sending

    private func send(on channel: Channel) {
        let deadline = self.loop.now + self.settings.confirmTimeout
        let connection = channel.connection
        while self.head < self.queue.count, self.ledger.count < self.settings.unconfirmedLimit,
            connection.unsentBytes < Self.highWater
        {
            let (message, token) = self.queue[self.head]
            self.head += 1
            self.queuedBytes -= message.body.count
            channel.publish(message, sequence: self.ledger.sent(token: token, deadline: deadline))
        }
        self.compact()
        self.setExpiry()
    }

    /// As many bytes as one turn gathers before the rest waits for room in the socket.
    private static let highWater = 256 * 1024

    private func compact() {
        if self.head == self.queue.count {
            self.queue.removeAll(keepingCapacity: self.queue.count < 4096)
            self.head = 0
        } else if self.head > 1024, self.head > self.queue.count / 2 {
            self.queue.removeFirst(self.head)
            self.head = 0
        }
    }

    private func setExpiry() {
        guard self.expiry?.isPending != true, let time = self.ledger.nextDeadline, time < .distantFuture else { return }
        // Confirms come long before; one deadline at a time looks whether one is overdue.
        self.expiry = self.loop.at(time) { [weak self] in
            guard let self else { return }
            var results: [PublishResult] = []
            self.ledger.expire(at: self.loop.now) { results.append($0) }
            self.setExpiry()
            self.finish(results)
        }
    }

    /// Results are gathered before: the delegate may publish again from within its call.
    private func finish(_ results: [PublishResult]) {
        for result in results { self.delegate?.publisher(self, didFinish: result) }
        if self.head < self.queue.count { self.channel?.setNeedsFlush() }
        guard self.hasRefused, self.canAccept else { return }
        // Half empty, so that the answer is not a single message each time.
        guard self.queuedCount + self.ledger.count <= self.settings.messageLimit / 2,
            self.queuedBytes <= self.settings.byteLimit / 2
        else { return }
        self.hasRefused = false
        self.delegate?.publisherCanAccept(self)
    }
}

extension Publisher: ChannelHandler {
    func channelDidOpen(_ channel: Channel) {
        channel.selectConfirms()
    }

    func channel(_ channel: Channel, didReceive method: ChannelMethod) {
        guard channel === self.channel, method == .confirmSelectOK else { return }
        self.isReady = true
        channel.setNeedsFlush()
    }

    func channel(_ channel: Channel, didReceive kind: ContentKind, _: consuming Delivery) {
        guard channel === self.channel, case .returned(let code, let text, let sequence?) = kind else { return }
        self.ledger.returned(sequence, code: code, text: text)
    }

    func channel(_ channel: Channel, didConfirm sequence: UInt64, multiple: Bool, isNack: Bool) {
        guard channel === self.channel else { return }
        if self.backoff.failures > 0 { self.backoff.reset() }
        var results: [PublishResult] = []
        guard self.ledger.confirm(sequence, multiple: multiple, isNack: isNack, { results.append($0) }) else {
            return channel.connection.fail(.violation("a confirm for message \(sequence), which was not sent"))
        }
        self.finish(results)
    }

    func channelWillFlush(_ channel: Channel) {
        guard channel === self.channel, self.isReady, !self.isBlocked else { return }
        self.send(on: channel)
        // What did not fit goes on when the socket has taken the rest.
        if self.head < self.queue.count, self.ledger.count < self.settings.unconfirmedLimit {
            channel.setNeedsFlush()
        }
    }

    func channel(_ channel: Channel, didClose error: BrokerError) {
        guard channel === self.channel else { return }
        self.channel = nil
        self.isReady = false
        var results: [PublishResult] = []
        self.ledger.end(error) { results.append($0) }
        if case .channelClosed = error {
            let delay = self.backoff.next(random: .random(in: .min ... .max))
            self.retry = self.loop.after(delay) { [weak self] in self?.openChannel() }
        }
        self.finish(results)
    }
}

/// Hears what became of messages, always on the loop.
package protocol PublisherDelegate: AnyObject {
    func publisher(_ publisher: Publisher, didFinish result: PublishResult)
    /// After `publish` had to say no: there is room again.
    func publisherCanAccept(_ publisher: Publisher)
}
