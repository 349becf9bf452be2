internal import HTTP2
internal import Loop
internal import Push
internal import Wire

/// One connection to Apple: turns what HTTP/2 says into replies and failures, and passes them to its pool.
final class APNsConnection {
    let id: ConnectionPlan.ID
    /// For people.
    var number: Int { Int(truncatingIfNeeded: self.id.number) }
    /// What its requests prove themselves with.
    let authorization: Authorization
    /// Which of the pool's credentials it was made with.
    let generation: Int
    private(set) var http2: HTTP2Client!
    private let loop: EventLoop
    private unowned let pool: ConnectionPool
    private var isReady = false
    private var sawGoAway = false
    var health: ConnectionHealth
    /// Whether Apple has judged a push on it.
    var isProven = false
    /// Whether it takes nothing new because of what came back on it.
    var isRetired = false

    init(
        id: ConnectionPlan.ID,
        settings: ConnectionPool.Settings,
        authorization: Authorization,
        generation: Int,
        loop: EventLoop,
        pool: ConnectionPool
    ) {
        self.id = id
        self.authorization = authorization
        self.generation = generation
        self.loop = loop
        self.pool = pool
        self.health = ConnectionHealth(settings: settings.health, at: loop.now)
        var http2 = settings.http2
        http2.keptHeaders = ["retry-after"]
        self.http2 = HTTP2Client(
            to: settings.endpoint,
            tls: settings.tls,
            authority: settings.endpoint.host,
            settings: http2,
            on: loop,
            delegate: self
        )
        self.http2.localStreamCap = self.health.streamCap
    }

    private func retryAfter(_ response: HTTP2Response) -> Duration? {
        response.header(0).flatMap { RetryAfter.parse($0, now: self.loop.wallTime) }
    }
}

extension APNsConnection: HTTP2ClientDelegate {
    func http2DidBecomeReady(_: HTTP2Client) {
        self.isReady = true
        self.pool.becameReady(self)
    }

    func http2(_: HTTP2Client, didChangeStreamLimit _: Int) {}

    func http2HasFreeStreams(_: HTTP2Client) {
        self.pool.hasFreeStreams()
    }

    func http2(_: HTTP2Client, context: UInt64, didReceive response: HTTP2Response) {
        guard response.status != 200 else {
            return self.pool.received(Reply(status: 200), latency: response.elapsed, context: context, on: self)
        }
        let retryAfter = self.retryAfter(response)
        let reply = Reply(status: response.status, body: response.body, retryAfter: retryAfter)
        self.pool.received(reply, latency: response.elapsed, context: context, on: self)
    }

    func http2(_: HTTP2Client, context: UInt64, didFail failure: StreamFailure) {
        let translated: SendFailure =
            switch failure {
            case .notProcessed(.refused): .notSent(.streamRefused)
            case .notProcessed(.goAway): .notSent(.goAwayUnprocessed)
            case .notProcessed(.neverSent): .notSent(.noConnection)
            case .unknown(.reset(let code)): .maybeSent(.reset(code: code))
            case .unknown(.connectionLost): .maybeSent(.connectionLost)
            case .unknown(.cancelled), .unknown(.timeout): .maybeSent(.timeout)
            case .unknown(.malformed): .maybeSent(.protocolViolation)
            }
        self.pool.failed(translated, context: context, on: self)
    }

    func http2(_: HTTP2Client, didReceive goAway: GoAway) {
        self.sawGoAway = true
        let reason = goAway.debugData.withUnsafeBytes { Reply.reason(inDebugData: $0) }
        self.pool.receivedGoAway(reason, on: self)
    }

    func http2(_: HTTP2Client, didClose reason: CloseReason) {
        self.pool.closed(self, reason, wasReady: self.isReady, sawGoAway: self.sawGoAway)
    }
}
