internal import Loop
internal import Push
internal import Synchronization
internal import Wire

/// A connection for commands and tests: asks the broker something and waits for the answer, without a loop of one's
/// own.
///
/// It does not reconnect: after an error, connect again. Every call ends within the time limit given at `connect`.
/// Close it when done.
package final class BrokerSession: Sendable {
    private let thread: LoopThread
    private let core: LoopBound<SessionCore>
    private let hasClosed = Mutex(false)

    private init(thread: LoopThread, core: LoopBound<SessionCore>) {
        self.thread = thread
        self.core = core
    }

    deinit {
        let core = self.core
        self.thread.remote.post { core.value.abandon() }
    }

    /// What a queue holds.
    package struct QueueDepth: Equatable, Sendable {
        /// Messages ready to be handed out; those held by consumers do not count.
        package let messages: Int
        package let consumers: Int

        package init(messages: Int, consumers: Int) {
            self.messages = messages
            self.consumers = consumers
        }
    }

    // MARK: Life

    /// Connects and logs in.
    /// - Parameter timeout: of this and of every later call.
    /// - Throws: `BrokerError`; `TLSContextError` when the authorities' file cannot be used; `LoopError` when the
    ///   system has no thread or descriptor left.
    package static func connect(
        _ settings: BrokerSettings,
        timeout: Duration = .seconds(10)
    ) async throws -> BrokerSession {
        let holder = Mutex<Result<LoopBound<SessionCore>, TLSContextError>?>(nil)
        let thread = try LoopThread.start(name: "broker-session") { loop in
            do throws(TLSContextError) {
                let core = try SessionCore(settings, timeout: timeout, loop: loop)
                holder.withLock { $0 = .success(LoopBound(core, to: loop)) }
            } catch {
                holder.withLock { $0 = .failure(error) }
                loop.after(.zero) { loop.stop() }
            }
        }
        guard let core = try holder.withLock({ $0 })?.get() else { preconditionFailure("a session without a core") }
        let session = BrokerSession(thread: thread, core: core)
        try await session.ask { core, completion in core.connect(completion) }
        return session
    }

    /// Closes in good order.
    package func close() async {
        let isFirst = self.hasClosed.withLock { closed in
            defer { closed = true }
            return !closed
        }
        if isFirst { try? await self.ask { core, completion in core.close(completion) } }
    }

    /// What the broker calls itself, such as `RabbitMQ 3.10.8`.
    package var product: String {
        get async throws(BrokerError) { try await self.ask { core, completion in completion(.success(core.product)) } }
    }

    // MARK: Topology

    /// Declares everything that is not there yet. What is there with other arguments stays as it is.
    /// - Returns: what could not be declared, and why; empty if the broker now is as the topology says.
    package func declare(_ topology: Topology) async throws(BrokerError) -> [TopologyDifference] {
        var differences: [TopologyDifference] = []
        for exchange in topology.exchanges {
            let error = try await self.attempt { channel in
                let kind = exchange.kind.rawValue
                channel.declareExchange(exchange.name, type: kind, passive: false, arguments: exchange.arguments)
            }
            if let error { differences.append(TopologyDifference(.exchange(exchange.name), error)) }
        }
        for queue in topology.queues {
            let error = try await self.attempt { channel in
                channel.declareQueue(queue.name, passive: false, arguments: queue.arguments)
            }
            if let error { differences.append(TopologyDifference(.queue(queue.name), error)) }
        }
        for binding in topology.bindings {
            let error = try await self.attempt { channel in
                channel.bind(queue: binding.queue, exchange: binding.exchange, routingKey: binding.routingKey)
            }
            if let error { differences.append(TopologyDifference(.binding(binding), error)) }
        }
        for binding in topology.removedBindings {
            let error = try await self.attempt { channel in
                channel.unbind(queue: binding.queue, exchange: binding.exchange, routingKey: binding.routingKey)
            }
            if let error { differences.append(TopologyDifference(.binding(binding), error)) }
        }
        return differences
    }

    /// Compares the broker with a topology, and creates nothing.
    ///
    /// AMQP can ask whether an exchange or queue is there. Its arguments are compared by declaring it again as it
    /// should be, which needs the permission to configure; bindings cannot be asked for at all.
    /// - Parameter comparingArguments: workers leave it out, they may not configure anything.
    package func verify(
        _ topology: Topology,
        comparingArguments: Bool
    ) async throws(BrokerError) -> [TopologyDifference] {
        var differences: [TopologyDifference] = []
        for exchange in topology.exchanges {
            let kind = exchange.kind.rawValue
            var error = try await self.attempt { channel in
                channel.declareExchange(exchange.name, type: kind, passive: true, arguments: [])
            }
            if error == nil, comparingArguments {
                error = try await self.attempt { channel in
                    channel.declareExchange(exchange.name, type: kind, passive: false, arguments: exchange.arguments)
                }
            }
            if let error { differences.append(TopologyDifference(.exchange(exchange.name), error)) }
        }
        for queue in topology.queues {
            var error = try await self.attempt { channel in channel.declareQueue(queue.name, passive: true) }
            if error == nil, comparingArguments {
                error = try await self.attempt { channel in
                    channel.declareQueue(queue.name, passive: false, arguments: queue.arguments)
                }
            }
            if let error { differences.append(TopologyDifference(.queue(queue.name), error)) }
        }
        return differences
    }

    /// How much waits in each of these queues; a queue that does not exist is left out.
    package func queueDepths(_ names: [String]) async throws(BrokerError) -> [String: QueueDepth] {
        try await self.ask { core, completion in core.queueDepths(names, completion) }
    }

    /// Deletes a queue with all that it holds; one that is gone already is fine.
    package func delete(queue: String) async throws(BrokerError) {
        _ = try await self.request { channel in channel.delete(queue: queue) }
    }

    /// Drops all messages that are ready. Returns how many.
    @discardableResult
    package func purge(queue: String) async throws(BrokerError) -> Int {
        let answer = try await self.request { channel in channel.purge(queue: queue) }
        guard case .method(.purgeOK(let messages)) = answer else { return 0 }
        return Int(messages)
    }

    // MARK: Messages

    /// Publishes and waits for the broker's confirm.
    /// - Precondition: `message.problem` is nil.
    /// - Returns: what became of it; `notSent` if too much waits already.
    package func publish(_ message: Message) async throws(BrokerError) -> PublishOutcome {
        try await self.ask { core, completion in core.publish(message, completion) }
    }

    /// Publishes all and waits for all confirms. Outcomes come in the order of the messages.
    package func publish(_ messages: [Message]) async throws(BrokerError) -> [PublishOutcome] {
        try await self.ask { core, completion in core.publish(messages, completion) }
    }

    /// Takes one message, if there is one, with all its headers. Until it is settled, or the session ends, nobody else
    /// gets it.
    package func get(queue: String) async throws(BrokerError) -> Delivery? {
        let answer = try await self.ask { (core: SessionCore, completion: @escaping RequestChannel.Completion) in
            core.messages?.request({ $0.get(queue: queue) }, completion) ?? completion(.failure(.closed))
        }
        guard case .message(let delivery) = answer else { return nil }
        return delivery
    }

    /// The message is done with. Returns when it is said, AMQP has no answer to it.
    package func ack(_ id: DeliveryID) async throws(BrokerError) {
        try await self.settle(id, .ack(id.tag, multiple: false))
    }

    /// Gives the message back to its queue, or dead-letters it by the queue's rule.
    package func reject(_ id: DeliveryID, requeue: Bool) async throws(BrokerError) {
        try await self.settle(id, .reject(id.tag, requeue: requeue))
    }

    private func settle(_ id: DeliveryID, _ settlement: DeliveryLedger.Settlement) async throws(BrokerError) {
        try await self.ask { core, completion in
            core.messages?.settle(id, settlement)
            completion(.success(()))
        }
    }

    // MARK: Asking

    private func request(_ send: @escaping @Sendable (Channel) -> Void) async throws(BrokerError)
        -> RequestChannel.Answer
    {
        try await self.ask { (core: SessionCore, completion: @escaping RequestChannel.Completion) in
            core.requests?.request(send, completion) ?? completion(.failure(.closed))
        }
    }

    /// The channel error that the request ended in, if it did; other errors are thrown.
    private func attempt(_ send: @escaping @Sendable (Channel) -> Void) async throws(BrokerError) -> BrokerError? {
        do throws(BrokerError) {
            _ = try await self.request(send)
            return nil
        } catch {
            guard case .channelClosed = error else { throw error }
            return error
        }
    }

    private func ask<Answer: Sendable>(
        _ body: @escaping @Sendable (SessionCore, @escaping (Result<Answer, BrokerError>) -> Void) -> Void
    ) async throws(BrokerError) -> Answer {
        let core = self.core
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<_, Never>) in
            self.thread.remote.post {
                core.value.ask(body) { continuation.resume(returning: $0) }
            }
        }
        return try result.get()
    }
}
