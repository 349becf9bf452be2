internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import SNS
internal import Store

/// One message that somebody waits for.
struct PublishOrder: Sendable {
    let message: SNS.Message
    /// Its id, unless an attempt before had another.
    let id: SNS.UUID
    let call: PublishCall?
}

/// Publish, on the loop: looks up the target, claims the call, publishes, and answers when RabbitMQ has confirmed.
final class Publishing {
    typealias Completion = (Result<SNS.UUID, SNSError>) -> Void

    private unowned let core: GatewayLoop
    /// Topics of no more subscribers than that are published to at once; more are for the fan-out.
    private static let directLimit = 100
    /// Looks at a call that is under way elsewhere before it is gone on with, 100 ms apart.
    private static let patience = 20

    private var finished: [(call: PublishCall, id: SNS.UUID)] = []

    init(core: GatewayLoop) {
        self.core = core
    }

    // MARK: To an endpoint

    func publish(_ order: PublishOrder, to name: EndpointName, _ completion: @escaping Completion) {
        let claim = ClaimAhead()
        self.core.registry.target(name) { [core] result in
            do throws(SNSError) {
                let ready = try Self.check(order, try core.found(result))
                let schedule = try self.schedule(ready.notBefore)
                self.once(order, ahead: claim, completion) { id, completion in
                    core.applications.application(name.application) { application in
                        var wantsReceipt = false
                        if case .success(let found?) = application { wantsReceipt = ReceiptDesk.wantsReceipts(found) }
                        let message = ready.message(id, at: core.loop.wallTime, wantsReceipt: wantsReceipt)
                        self.send([message], of: order, id, schedule, completion)
                    }
                }
            } catch {
                completion(.failure(error))
            }
        }
        // In one write with the question for the target. What is refused stays claimed, and nobody tries that again.
        if let call = order.call, self.core.outbox.obstacle == nil {
            claim.isAsked = true
            self.core.registry.claim(call, messageID: order.id.description) { claim.answer($0) }
        }
    }

    /// In Amazon's order of checks.
    private static func check(_ order: PublishOrder, _ target: EndpointTarget?) throws(SNSError) -> DirectPush {
        guard let target, let platform = Platform(rawValue: target.endpoint.name.application.platform) else {
            throw .noTarget
        }
        guard target.endpoint.isEnabled else { throw .endpointDisabled }
        guard target.isApplicationEnabled, let app = target.fleetApp.flatMap({ AppID($0) }) else {
            throw .applicationDisabled
        }
        let content = try PublishContent(order.message)
        let push = try content.push(for: platform)
        try order.message.checkStandardTarget()
        let token = target.endpoint.token.text
        guard Contract.tokenDigits.contains(token.utf8.count) else {
            throw .invalidParameter("TargetArn", reason: "The endpoint's token is longer than Apple's are")
        }
        return DirectPush(app: app, token: token, push: push, notBefore: content.notBefore)
    }

    /// A push to one endpoint that nothing stands against.
    private struct DirectPush {
        let app: AppID
        let token: String
        let push: PlatformPush
        let notBefore: UnixTime?

        func message(_ id: SNS.UUID, at now: UnixTime, wantsReceipt: Bool) -> Broker.Message {
            var properties = MessageProperties()
            properties.messageID = Array(id.description.utf8)
            properties.timestamp = now
            properties.headers = Schedule(self.notBefore, publishedAt: now)?.headers(id.description) ?? []
            return Broker.Message(
                exchange: FleetTopology.exchange,
                routingKey: FleetTopology.routingKey(app: self.app, lane: .now),
                properties: properties,
                body: self.push.envelope(
                    app: self.app,
                    tokens: [self.token],
                    now: now,
                    notBefore: self.notBefore,
                    wantsReceipt: wantsReceipt
                )
            )
        }
    }

    // MARK: To a topic

    func publish(_ order: PublishOrder, to topic: String, _ completion: @escaping Completion) {
        self.core.registry.recipients(of: topic, limit: Self.directLimit) { [core] result in
            do throws(SNSError) {
                guard let page = try core.found(result) else { throw .noTopic }
                let schedule = try self.schedule(try ActionRun.check(order.message).notBefore)
                self.once(order, completion) { id, completion in
                    let job = FanOutOrder(
                        topic: topic,
                        messageID: UUIDText(text: id.description),
                        publishedAt: core.loop.wallTime.milliseconds,
                        message: order.message
                    )
                    let messages = page.next == nil ? self.direct(job, page) : [Self.message(job)]
                    self.send(messages, of: order, id, schedule, completion)
                }
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// A topic of few subscribers needs no order: all is confirmed before the answer.
    private func direct(_ order: FanOutOrder, _ page: Recipients) -> [Broker.Message] {
        let plan = FanOutPlan(order, settings: self.core.parts.settings, signer: self.core.signer)
        let chunk = FanOutChunk(page.recipients) { plan.wants($0) }
        self.core.metrics.add(.fanoutFiltered, chunk.filtered)
        self.core.metrics.add(.fanoutDuplicates, chunk.duplicates)
        if chunk.devices.contains(where: { plan.wantsReceipt($0, page.topic) }) {
            self.core.receipts.remember(order.topic, of: order.messageID)
        }
        return chunk.messages(
            order: order.messageID,
            chunk: 0,
            publishedAt: UnixTime(milliseconds: order.publishedAt),
            lane: .now,
            push: { plan.push(for: $0) },
            notBefore: plan.notBefore,
            wantsReceipt: { plan.wantsReceipt($0, page.topic) }
        ) + plan.notifications(page)
    }

    static func message(_ order: FanOutOrder) -> Broker.Message {
        var properties = MessageProperties()
        properties.messageID = Array(order.messageID.utf8)
        properties.timestamp = UnixTime(milliseconds: order.publishedAt)
        return Broker.Message(
            exchange: GatewayTopology.fanOut,
            routingKey: order.topic,
            properties: properties,
            body: order.body
        )
    }

    // MARK: To a user

    /// To all endpoints with these user data that are enabled. Answers how many devices that are.
    func publish(
        _ order: PublishOrder,
        toUser user: String,
        _ completion: @escaping (Result<Int, SNSError>) -> Void
    ) {
        UserDevices(core: self.core).find(user) { [core] result in
            do throws(SNSError) {
                let chunk = FanOutChunk(devices: try core.found(result))
                guard !chunk.devices.isEmpty else { throw .notFound("The user has no endpoint that is enabled") }
                let schedule = try self.schedule(try ActionRun.check(order.message).notBefore)
                let job = FanOutOrder(
                    topic: "",
                    messageID: UUIDText(text: order.id.description),
                    publishedAt: core.loop.wallTime.milliseconds,
                    message: order.message
                )
                let plan = FanOutPlan(job, settings: core.parts.settings, signer: core.signer)
                guard core.outbox.obstacle == nil else { throw .unavailable }
                let messages = chunk.messages(
                    order: job.messageID,
                    chunk: 0,
                    publishedAt: core.loop.wallTime,
                    lane: .now,
                    push: { plan.push(for: $0) },
                    notBefore: plan.notBefore,
                    wantsReceipt: \.isLogged
                )
                self.send(messages, of: order, order.id, schedule) { completion($0.map { _ in chunk.devices.count }) }
            } catch {
                completion(.failure(error))
            }
        }
    }

    // MARK: Once

    /// Goes on with the id that the call has, or answers for the attempt that has gone through.
    private func once(
        _ order: PublishOrder,
        ahead: ClaimAhead = ClaimAhead(),
        _ completion: @escaping Completion,
        _ body: @escaping (SNS.UUID, @escaping Completion) -> Void
    ) {
        // Said before anything is claimed: the next attempt has nothing to wait for.
        guard self.core.outbox.obstacle == nil else { return completion(.failure(.unavailable)) }
        guard let call = order.call else {
            var isAnswered = false
            return body(order.id) { result in
                if !isAnswered { completion(result) }
                isAnswered = true
            }
        }
        self.claim(call, order, ahead, looks: 0, completion, body)
    }

    private func claim(
        _ call: PublishCall,
        _ order: PublishOrder,
        _ ahead: ClaimAhead,
        looks: Int,
        _ completion: @escaping Completion,
        _ body: @escaping (SNS.UUID, @escaping Completion) -> Void
    ) {
        var isAnswered = false
        let finish: Completion = { result in
            if case .success(let id) = result { self.finish(call, id) }
            // A second time only to say that it is done after all.
            if !isAnswered { completion(result) }
            isAnswered = true
        }
        let claimed: Registry.Completion<PublishClaim> = { [core] result in
            switch result {
            case .failure(let failure): completion(.failure(core.report(failure)))
            case .success(.first): body(order.id, finish)
            case .success(.done(let text)):
                core.metrics.add(.repeatedCalls)
                completion(SNS.UUID(text).map { .success($0) } ?? .failure(.internalFailure))
            case .success(.pending(let text)):
                guard looks < Self.patience else {
                    return SNS.UUID(text).map { body($0, finish) } ?? completion(.failure(.internalFailure))
                }
                // An attempt before may still be under way, here or elsewhere.
                core.loop.after(.milliseconds(100)) {
                    self.claim(call, order, ClaimAhead(), looks: looks + 1, completion, body)
                }
            }
        }
        guard !ahead.isAsked else { return ahead.wait(claimed) }
        self.core.registry.claim(call, messageID: order.id.description, claimed)
    }

    /// Says that a call is answered. Nobody asks within milliseconds, so many are said at once.
    private func finish(_ call: PublishCall, _ id: SNS.UUID) {
        if self.finished.isEmpty {
            self.core.loop.after(.milliseconds(5)) { [weak self] in self?.writeFinished() }
        }
        self.finished.append((call, id))
    }

    private func writeFinished() {
        for (call, id) in self.finished { self.core.registry.finish(call, messageID: id.description) { _ in } }
        self.finished.removeAll(keepingCapacity: true)
    }

    // MARK: Sending

    private func schedule(_ notBefore: UnixTime?) throws(SNSError) -> Schedule? {
        let schedule = Schedule(notBefore, publishedAt: self.core.loop.wallTime)
        try schedule?.check()
        return schedule
    }

    /// Publishes what an order is made of, which may be cancelled if it is scheduled. What an SDK may try again is
    /// marked: should RabbitMQ not say whether it has the first, workers send one of both.
    private func send(
        _ messages: [Broker.Message],
        of order: PublishOrder,
        _ id: SNS.UUID,
        _ schedule: Schedule?,
        _ completion: @escaping Completion
    ) {
        let messages = order.call == nil ? messages : messages.map { $0.marked() }
        guard let schedule else { return self.send(messages, id, completion) }
        self.core.redis.run(ScheduledPush.plan(id.description, dueIn: schedule.wait)) { [core] result in
            if case .failure(let failure) = result { return completion(.failure(core.report(failure))) }
            self.send(messages, id, completion)
        }
    }

    /// Publishes all; a success only if all are confirmed. One that comes too late for the client still counts for
    /// its next attempt.
    private func send(_ messages: [Broker.Message], _ id: SNS.UUID, _ completion: @escaping Completion) {
        guard !messages.isEmpty else { return completion(.success(id)) }
        var unanswered = messages.count
        var unconfirmed = messages.count
        func confirmed(_ outcome: Outbox.Outcome) {
            if outcome == .confirmed { unconfirmed -= 1 }
        }
        func answered(_ outcome: Outbox.Outcome) {
            confirmed(outcome)
            unanswered -= 1
            if unanswered == 0 { completion(unconfirmed == 0 ? .success(id) : .failure(.unavailable)) }
        }
        func late(_ outcome: Outbox.Outcome) {
            confirmed(outcome)
            // Nobody waits any more, but who asks again learns that it is done.
            if unanswered == 0, unconfirmed == 0 { completion(.success(id)) }
        }
        for message in messages where !self.core.outbox.publish(message, late: late, answered) {
            answered(.failed("not taken"))
        }
    }
}

/// A claim that was asked for before it was known whether it is needed.
private final class ClaimAhead {
    var isAsked = false
    private var result: Result<PublishClaim, RedisFailure>?
    private var waiting: Registry.Completion<PublishClaim>?

    func answer(_ result: Result<PublishClaim, RedisFailure>) {
        self.result = result
        self.waiting.take()?(result)
    }

    /// Called at once if the answer is there.
    func wait(_ completion: @escaping Registry.Completion<PublishClaim>) {
        if let result { completion(result) } else { self.waiting = completion }
    }
}
