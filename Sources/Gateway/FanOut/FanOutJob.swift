internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import Store

/// One order under way: chunk by chunk, each read from Redis, published, confirmed, and only then behind the cursor.
///
/// Whatever fails is tried again after a moment, for as long as the order is ours: RabbitMQ hands it to another gateway
/// when this one is gone.
final class FanOutJob {
    enum End {
        case done
        /// Another gateway has it, or the broker has taken it back.
        case lost
    }

    private let order: FanOutOrder
    private let plan: FanOutPlan
    private let core: GatewayLoop
    private let owner: String
    private let chunkSize: Int
    private var progress = FanOutProgress.start
    private var topic = TopicDelivery()
    private var isOver = false
    private let ended: (End) -> Void

    /// - Parameter ended: called once, unless the job is abandoned.
    init(_ order: FanOutOrder, core: GatewayLoop, chunkSize: Int = 1000, ended: @escaping (End) -> Void) {
        self.order = order
        self.plan = FanOutPlan(order, settings: core.parts.settings, signer: core.signer)
        self.core = core
        self.owner = InstanceID().description
        self.chunkSize = chunkSize
        self.ended = ended
    }

    func start() {
        self.ask(
            FanOutProgress.claim(self.order.messageID, owner: self.owner),
            again: { $0.start() },
            then: { job, reply in
                guard let progress = FanOutProgress(reply) else { return job.later { $0.start() } }
                job.progress = progress
                if progress.isDone { return job.end(.done) }
                job.read()
            }
        )
    }

    /// Stops where it is; what is under way has no more consequence.
    func abandon() {
        self.isOver = true
    }

    // MARK: A chunk

    private func read() {
        let after = ResourceID(bytes: self.progress.cursor)
        self.core.registry.recipients(of: self.order.topic, after: after, limit: self.chunkSize) { [weak self] result in
            guard let self, !self.isOver else { return }
            switch result {
            case .failure: self.later { $0.read() }
            // The topic was deleted meanwhile, and all its subscriptions with it.
            case .success(nil): self.advance(to: nil, tokens: 0)
            case .success(let page?):
                let chunk = FanOutChunk(page.recipients) { self.plan.wants($0) }
                self.core.metrics.add(.fanoutFiltered, chunk.filtered)
                self.topic = page.topic
                if chunk.devices.contains(where: { self.plan.wantsReceipt($0, page.topic) }) {
                    self.core.receipts.remember(self.order.topic, of: self.order.messageID)
                }
                self.claimTokens(of: chunk, self.plan.notifications(page), next: page.next)
            }
        }
    }

    private func claimTokens(of chunk: FanOutChunk, _ others: [Broker.Message], next: ResourceID?) {
        let doubtful = chunk.doubtful
        guard !doubtful.isEmpty else { return self.publish(chunk, others, next: next) }
        let call = self.progress.take(doubtful, self.order.messageID, owner: self.owner)
        self.ask(
            call,
            again: { $0.claimTokens(of: chunk, others, next: next) },
            then: { job, reply in
                guard let answers = reply.elements else { return job.end(.lost) }
                var chunk = chunk
                chunk.keep(answers.map { $0.integer == 1 })
                job.publish(chunk, others, next: next)
            }
        )
    }

    private func publish(_ chunk: FanOutChunk, _ others: [Broker.Message], next: ResourceID?) {
        let isSmall = next == nil && self.progress.chunk == 0
        let messages =
            chunk.messages(
                order: self.order.messageID,
                chunk: self.progress.chunk,
                publishedAt: UnixTime(milliseconds: self.order.publishedAt),
                lane: isSmall ? .now : .bulk,
                push: { self.plan.push(for: $0) },
                notBefore: self.plan.notBefore,
                wantsReceipt: { self.plan.wantsReceipt($0, self.topic) }
            ) + others
        self.core.metrics.add(.fanoutDuplicates, chunk.duplicates)
        var unconfirmed = messages.count
        guard unconfirmed > 0 else { return self.advance(to: next, tokens: 0) }
        for message in messages {
            self.publish(message) { job in
                unconfirmed -= 1
                if unconfirmed == 0 { job.advance(to: next, tokens: chunk.devices.count) }
            }
        }
    }

    /// Publishes until it is confirmed.
    private func publish(_ message: Broker.Message, _ confirmed: @escaping (FanOutJob) -> Void) {
        // Workers take the first that comes, should this be published again.
        let isTaken = self.core.outbox.publish(message.marked()) { [weak self] outcome in
            guard let self, !self.isOver else { return }
            if outcome == .confirmed { return confirmed(self) }
            self.later { $0.publish(message, confirmed) }
        }
        if !isTaken { self.later { $0.publish(message, confirmed) } }
    }

    private func advance(to next: ResourceID?, tokens: Int) {
        var progress = self.progress
        progress.chunk += 1
        progress.cursor = next?.bytes ?? []
        progress.isDone = next == nil
        let call = progress.advance(self.order.messageID, owner: self.owner)
        self.ask(
            call,
            again: { $0.advance(to: next, tokens: tokens) },
            then: { job, reply in
                guard reply.integer == 1 else { return job.end(.lost) }
                job.progress = progress
                job.core.metrics.add(.fanoutChunks)
                job.core.metrics.add(.fanoutTokens, tokens)
                progress.isDone ? job.end(.done) : job.read()
            }
        )
    }

    private func end(_ end: End) {
        guard !self.isOver else { return }
        self.isOver = true
        if case .done = end { self.core.metrics.add(.fanoutJobs) }
        self.ended(end)
    }

    // MARK: Trying again

    private func ask(
        _ call: ScriptCall,
        again: @escaping (FanOutJob) -> Void,
        then body: @escaping (FanOutJob, RedisReply) -> Void
    ) {
        self.core.redis.run(call) { [weak self] result in
            guard let self, !self.isOver else { return }
            switch result {
            case .success(let reply): body(self, reply)
            case .failure: self.later(again)
            }
        }
    }

    private func later(_ body: @escaping (FanOutJob) -> Void) {
        self.core.loop.after(.milliseconds(500)) { [weak self] in
            guard let self, !self.isOver else { return }
            body(self)
        }
    }
}
