import Loop
import Push
import Synchronization
import TestServers
import Testing
import Wire

@testable import Broker

/// A client with consumers and publishers on a loop thread of its own, as a worker has it, and a record of what it
/// was told.
final class Rig: Sendable {
    enum Event: Sendable {
        case client(BrokerClient.State)
        case blocked(String?)
        case consumer(String, Consumer.State)
        case lost(String, Int, BrokerError)
        case delivery(Delivery)
        case published(PublishResult)
        case canAccept
    }

    let recorder = Recorder<Event>()
    private let thread: LoopThread
    private let bound: LoopBound<Bench>

    init(_ settings: BrokerSettings, acksAtOnce: Bool = false) throws {
        let holder = Mutex<LoopBound<Bench>?>(nil)
        let recorder = self.recorder
        self.thread = try LoopThread.start(name: "rig") { loop in
            let bench = Bench(recorder, loop: loop, acksAtOnce: acksAtOnce)
            do {
                bench.client = try BrokerClient(settings, on: loop, delegate: bench)
            } catch {
                Issue.record(error)
            }
            holder.withLock { $0 = LoopBound(bench, to: loop) }
        }
        self.bound = holder.withLock { $0 }!
    }

    /// Runs something on the loop.
    @discardableResult
    func run<Value: Sendable>(_ body: @escaping @Sendable (Bench) -> Value) async -> Value {
        let bound = self.bound
        return await withCheckedContinuation { continuation in
            self.thread.remote.post { continuation.resume(returning: body(bound.value)) }
        }
    }

    func close() async throws {
        await self.run { $0.client.close() }
        try await self.wait("closed") { if case .client(.closed) = $0 { true } else { false } }
        await self.run { $0.loop.stop() }
        self.thread.join()
    }

    // MARK: Waiting

    /// How much has happened; to wait for what happens after a moment.
    var moment: Int { self.recorder.events.count }

    @discardableResult
    func wait(
        _ what: String,
        count: Int = 1,
        after start: Int = 0,
        where counts: @escaping @Sendable (Event) -> Bool
    ) async throws -> [Event] {
        try await self.recorder.wait(what, count: count, after: start, where: counts)
    }

    /// Waits until `count` messages came in; returns them all.
    @discardableResult
    func deliveries(_ count: Int) async throws -> [Delivery] {
        try await self.wait("\(count) deliveries", count: count) { $0.delivery != nil }
        return self.recorder.events.compactMap(\.delivery)
    }

    func results(_ count: Int) async throws -> [PublishResult] {
        try await self.wait("\(count) results", count: count) { $0.result != nil }
        return self.recorder.events.compactMap(\.result)
    }

    /// Waits until a consumer's state is such as asked for.
    func state(
        of queue: String,
        _ what: String,
        after start: Int = 0,
        _ isWanted: @escaping @Sendable (Consumer.State) -> Bool
    ) async throws {
        try await self.wait(what, after: start) {
            if case .consumer(queue, let state) = $0 { isWanted(state) } else { false }
        }
    }

    func connected(times: Int = 1) async throws {
        try await self.wait("connected", count: times) { if case .client(.connected) = $0 { true } else { false } }
    }

    /// Lives on the loop.
    final class Bench: BrokerClientDelegate, ConsumerDelegate, PublisherDelegate {
        let loop: EventLoop
        let recorder: Recorder<Event>
        let acksAtOnce: Bool
        var client: BrokerClient!
        var consumers: [String: Consumer] = [:]
        var publisher: Publisher!

        init(_ recorder: Recorder<Event>, loop: EventLoop, acksAtOnce: Bool) {
            self.recorder = recorder
            self.loop = loop
            self.acksAtOnce = acksAtOnce
        }

        func consume(_ queue: String, prefetch: Int) {
            self.consumers[queue] = self.client.consume(
                queue: queue,
                prefetch: prefetch,
                consumerTag: "test",
                delegate: self
            )
        }

        func makePublisher(_ settings: Publisher.Settings = Publisher.Settings()) {
            self.publisher = self.client.makePublisher(settings, delegate: self)
        }

        func brokerClient(_: BrokerClient, didChange state: BrokerClient.State) {
            self.recorder.record(.client(state))
        }

        func brokerClient(_: BrokerClient, didChangeBlocked reason: String?) {
            self.recorder.record(.blocked(reason))
        }

        func consumer(_ consumer: Consumer, didReceive delivery: consuming Delivery) {
            if self.acksAtOnce { consumer.ack(delivery.id) }
            self.recorder.record(.delivery(delivery))
        }

        func consumer(_ consumer: Consumer, didLose openDeliveries: Int, _ reason: BrokerError) {
            self.recorder.record(.lost(consumer.queue, openDeliveries, reason))
        }

        func consumer(_ consumer: Consumer, didChange state: Consumer.State) {
            self.recorder.record(.consumer(consumer.queue, state))
        }

        func publisher(_: Publisher, didFinish result: PublishResult) {
            self.recorder.record(.published(result))
        }

        func publisherCanAccept(_: Publisher) {
            self.recorder.record(.canAccept)
        }
    }
}

extension Rig.Event {
    var delivery: Delivery? { if case .delivery(let delivery) = self { delivery } else { nil } }
    var result: PublishResult? { if case .published(let result) = self { result } else { nil } }
}

extension Consumer.State {
    var isConsuming: Bool { if case .consuming = self { true } else { false } }
    var waitingFor: BrokerError? { if case .waiting(let error) = self { error } else { nil } }
}

extension PrivateRabbitMQ {
    func settings(vhost: String = "/", heartbeat: Int = 10, port: Int? = nil) throws -> BrokerSettings {
        let url = self.url(vhost: vhost, port: port) + "?heartbeat=\(heartbeat)"
        return BrokerSettings(address: try AMQPAddress(parsing: url), connectionName: "BrokerTests")
    }

    /// A virtual host with queues, and a session in it.
    func prepare(_ queues: Topology.Queue...) async throws -> (BrokerSettings, BrokerSession) {
        let settings = try self.settings(vhost: try self.makeVhost())
        let session = try await BrokerSession.connect(settings)
        #expect(try await session.declare(Topology(queues: queues)).isEmpty)
        return (settings, session)
    }
}

extension Topology.Queue {
    static func quorum(_ name: String, _ arguments: Header...) -> Topology.Queue {
        Topology.Queue(name, arguments: [Header("x-queue-type", .string("quorum"))] + arguments)
    }
}

extension Message {
    /// To a queue by its name, through the default exchange.
    init(to queue: String, _ text: String, headers: [Header] = []) {
        self.init(
            exchange: "",
            routingKey: queue,
            properties: MessageProperties(messageID: Array("id-\(text)".utf8), headers: headers),
            body: Array(text.utf8)
        )
    }
}

extension BrokerSession {
    /// What a queue holds in the end: the broker takes back open deliveries in its own time.
    func expect(
        _ queue: String,
        messages: Int,
        consumers: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let limit = ContinuousClock.now + .seconds(10)
        var depth: QueueDepth?
        while ContinuousClock.now < limit {
            depth = try await self.queueDepths([queue])[queue]
            if let depth, depth.messages == messages, depth.consumers == consumers ?? depth.consumers { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("\(queue) holds \(depth as Any), not \(messages)", sourceLocation: sourceLocation)
    }
}
