internal import Logging
internal import Push

/// Says what happened, for whoever reads logs. Constant messages; everything that varies is metadata, under the keys
/// below. Nothing here decides anything, and no device token or secret passes through.
struct Teller: Sendable {
    enum Key {
        static let app = "push.app"
        static let credential = "push.credential"
        static let pool = "push.budget"
        static let queue = "amqp.queue"
        static let reason = "apns.reason"
        static let status = "apns.status"
        static let topic = "apns.topic"
        static let cause = "cause"
        static let detail = "detail"
        static let count = "count"
        static let days = "days"
    }

    private let logger: Logger
    private let onReady: @Sendable () -> Void

    init(_ logger: Logger, onReady: @escaping @Sendable () -> Void) {
        self.logger = logger
        self.onReady = onReady
    }

    func ready() {
        self.onReady()
        self.logger.info("Ready: a connection lease is held")
    }

    func consuming(_ queue: String) {
        self.logger.debug("Consuming", metadata: [Key.queue: "\(queue)"])
    }

    func consumerProblem(_ queue: String, _ problem: String) {
        self.logger.warning("Cannot consume", metadata: [Key.queue: "\(queue)", Key.detail: "\(problem)"])
    }

    func brokerProblem(_ connection: String, _ problem: String) {
        self.logger.warning(
            "RabbitMQ connection lost",
            metadata: ["amqp.connection": "\(connection)", Key.detail: "\(problem)"]
        )
    }

    func brokerBlocked(_ reason: String?) {
        if let reason {
            self.logger.warning("RabbitMQ blocks publishing", metadata: [Key.detail: "\(reason)"])
        } else {
            self.logger.notice("RabbitMQ takes messages again")
        }
    }

    func deliveriesLost(_ queue: String, count: Int, detail: String) {
        self.logger.warning(
            "Deliveries are void: RabbitMQ hands them out again",
            metadata: [Key.queue: "\(queue)", Key.count: "\(count)", Key.detail: "\(detail)"]
        )
    }

    func redisProblem(_ problem: String) {
        self.logger.warning("Redis is away", metadata: [Key.detail: "\(problem)"])
    }

    func redisRefuses(_ problem: String) {
        self.logger.error(
            "Redis refuses the login: nothing is sent until redis.url names a user and password that it takes",
            metadata: [Key.detail: "\(problem)"]
        )
    }

    func trailRefused(_ problem: String) {
        self.logger.warning(
            "Redis refuses the trail, so that pushfleet find knows nothing of this worker; see deploy/redis/users.acl.example",
            metadata: [Key.detail: "\(problem)"]
        )
    }

    func redisIsBack() {
        self.logger.notice("Redis is back")
    }

    func publishFailed(_ exchange: String, _ detail: String) {
        self.logger.warning(
            "A copy was not confirmed and is published again",
            metadata: ["amqp.exchange": "\(exchange)", Key.detail: "\(detail)"]
        )
    }

    func alert(_ reply: Reply, app: String) {
        self.logger.error(
            "Apple refused a request that was correct for all we know; see pushfleet explain",
            metadata: [
                Key.app: "\(app)", Key.status: "\(reply.status)", Key.reason: "\(reply.reason?.text ?? "none")",
            ]
        )
    }

    func paused(_ queue: String, reason: ApnsReason?) {
        self.logger.error(
            "Paused: Apple refuses the credential; messages stay in RabbitMQ, no attempt is spent",
            metadata: [Key.queue: "\(queue)", Key.reason: "\(reason?.text ?? "none")"]
        )
    }

    func pausedByFleet(_ app: String, _ cause: Pause.Cause?) {
        self.logger.error(
            "Paused: another worker says so; messages stay in RabbitMQ",
            metadata: [Key.app: "\(app)", Key.cause: "\(cause?.rawValue ?? "")"]
        )
    }

    func pausedByHand(_ app: String, by name: String, reason: String) {
        self.logger.notice(
            "Paused by hand: messages stay in RabbitMQ until pushfleet resume",
            metadata: [Key.app: "\(app)", "push.paused_by": "\(name)", Key.detail: "\(reason)"]
        )
    }

    func resumedByHand(_ app: String) {
        self.logger.notice("A pause by hand is over", metadata: [Key.app: "\(app)"])
    }

    /// - Parameter isNew: whether it was not told before.
    func pausesUnknown(_ problem: String, isNew: Bool) {
        guard isNew else { return }
        self.logger.error(
            """
            Redis refuses to tell which apps are paused: this worker goes by its own pauses only; \
            see deploy/redis/users.acl.example
            """,
            metadata: [Key.detail: "\(problem)"]
        )
    }

    func probing(_ name: String, _ cause: Pause.Cause?) {
        self.logger.notice(
            "Probing with one message",
            metadata: ["push.paused": "\(name)", Key.cause: "\(cause?.rawValue ?? "")"]
        )
    }

    func resumed(_ queue: String) {
        self.logger.notice("Resumed: Apple takes pushes of this app again", metadata: [Key.queue: "\(queue)"])
    }

    func breakerOpened(_ queue: String) {
        self.logger.error(
            "Paused: too many tokens do not fit the app's environment or topic; check both before any token is removed",
            metadata: [Key.queue: "\(queue)"]
        )
    }

    func topicPaused(_ app: String, topic: [UInt8], reason: ApnsReason?) {
        self.logger.error(
            "Paused one topic: the credential may not push to it; its messages wait, no attempt is spent",
            metadata: [
                Key.app: "\(app)", Key.topic: "\(String(decoding: topic, as: UTF8.self))",
                Key.reason: "\(reason?.text ?? "none")",
            ]
        )
    }

    func topicResumed(_ app: String, topic: [UInt8]) {
        self.logger.notice(
            "Resumed one topic",
            metadata: [Key.app: "\(app)", Key.topic: "\(String(decoding: topic, as: UTF8.self))"]
        )
    }

    func outageBegan(_ credential: String) {
        self.logger.error(
            "Paused: Apple answers with 5xx or not at all; messages stay in RabbitMQ, one at a time probes",
            metadata: [Key.credential: "\(credential)"]
        )
    }

    func outageEnded(_ credential: String) {
        self.logger.notice("Resumed: Apple answers again", metadata: [Key.credential: "\(credential)"])
    }

    func swapping(_ credential: String, to pool: String) {
        self.logger.notice(
            "Connecting with a changed credential; the old one goes on until then",
            metadata: [Key.credential: "\(credential)", Key.pool: "\(pool)"]
        )
    }

    func swapped(_ credential: String, pool: String) {
        self.logger.notice(
            "A changed credential is in use; connections with the old one are replaced",
            metadata: [Key.credential: "\(credential)", Key.pool: "\(pool)"]
        )
    }

    func credentialLeft(_ credential: String, pool: String) {
        self.logger.info(
            "The last connection with the old credential is closed",
            metadata: [Key.credential: "\(credential)", Key.pool: "\(pool)"]
        )
    }

    func credentialRefused(_ credential: String, _ problem: String) {
        self.logger.error(
            "A changed credential cannot be used; the old one goes on",
            metadata: [Key.credential: "\(credential)", Key.detail: "\(problem)"]
        )
    }

    func appAdded(_ app: String) {
        self.logger.notice("An app was added", metadata: [Key.app: "\(app)"])
    }

    func appChanged(_ app: String) {
        self.logger.notice(
            "An app has changed: its new settings hold for what is received from now on",
            metadata: [Key.app: "\(app)"]
        )
    }

    func appRemoved(_ app: String) {
        self.logger.notice(
            "An app was removed: what waits goes back to RabbitMQ and stays there",
            metadata: [Key.app: "\(app)"]
        )
    }

    func appWaits(_ app: String, for queues: [String], isNew: Bool) {
        let metadata: Logger.Metadata = [Key.app: "\(app)", Key.queue: "\(queues.joined(separator: ", "))"]
        if isNew {
            self.logger.warning(
                "A new app waits for its delay queues; declare them with pushfleet topology declare",
                metadata: metadata
            )
        } else {
            self.logger.warning(
                "A changed app goes on as before until its delay queues are there; run pushfleet topology declare",
                metadata: metadata
            )
        }
    }

    func credentialAdded(_ credential: String, pool: String) {
        self.logger.notice(
            "A credential was added",
            metadata: [Key.credential: "\(credential)", Key.pool: "\(pool)"]
        )
    }

    func leaseEnded(_ credential: String) {
        self.logger.error(
            "Lease ended without a renewal: all connections are closed",
            metadata: [Key.credential: "\(credential)"]
        )
    }

    func leaseHasTwin(_ credential: String) {
        self.logger.error(
            """
            Another worker uses the id of this one's lease: was its process or machine cloned? All connections are \
            closed, and it goes on under a new id
            """,
            metadata: [Key.credential: "\(credential)"]
        )
    }

    func goAway(_ credential: String, reason: ApnsReason?) {
        self.logger.info(
            "Apple ends a connection",
            metadata: [Key.credential: "\(credential)", Key.reason: "\(reason?.text ?? "none")"]
        )
    }

    func connectionClosed(_ credential: String, detail: String, wasReady: Bool) {
        let metadata: Logger.Metadata = [Key.credential: "\(credential)", Key.detail: "\(detail)"]
        if wasReady {
            self.logger.info("Connection to APNs closed", metadata: metadata)
        } else {
            self.logger.warning("Cannot connect to APNs", metadata: metadata)
        }
    }

    /// - Parameter days: whole days that are left; negative when it has ended.
    func certificateEnds(_ credential: String, days: Int) {
        self.logger.warning(
            days < 0 ? "A certificate has ended: renew it" : "A certificate ends soon: renew it",
            metadata: [Key.credential: "\(credential)", Key.days: "\(days)"]
        )
    }

    func draining(inFlight: Int) {
        self.logger.notice("Draining: nothing new is taken", metadata: [Key.count: "\(inFlight)"])
    }

    func drainOrdered(by name: String) {
        self.logger.notice("Ordered to drain", metadata: ["by": "\(Quoted.text(name.utf8))"])
    }

    /// - Parameters:
    ///   - handedBack: notifications that were never sent and are RabbitMQ's again.
    ///   - abandoned: messages that may have been sent and are RabbitMQ's again.
    func drained(handedBack: Int, abandoned: Int) {
        let unsent: Logger.Metadata = ["handed_back_unsent": "\(handedBack)"]
        if abandoned == 0 {
            self.logger.notice("Drained: everything in flight has its answer", metadata: unsent)
        } else {
            self.logger.warning(
                "The drain timeout is over: messages without an answer go back to RabbitMQ and may be sent twice",
                metadata: unsent.merging([Key.count: "\(abandoned)"]) { $1 }
            )
        }
    }
}
