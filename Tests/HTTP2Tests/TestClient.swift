import HTTP2
import Loop
import Push
import TestServers
import Wire

/// What became of one request.
enum Outcome: Hashable, Sendable {
    case answered(status: Int, kept: [String?], body: String)
    case failed(StreamFailure)

    /// An answer as `TestServer` gives it unless told otherwise.
    static func echoed(_ context: UInt64) -> Outcome {
        .answered(status: 200, kept: [TestClient.name(context), nil], body: "")
    }

    var isAnswer: Bool {
        if case .answered = self { return true }
        return false
    }
}

/// What a client connection went through.
struct ClientRecord: Sendable {
    /// By context; a request with more than one outcome is a failure of every test.
    var outcomes: [UInt64: [Outcome]] = [:]
    var streams: [UInt64: Int32] = [:]
    var limits: [Int] = []
    var goAways: [GoAway] = []
    var closes: [CloseReason] = []
    var ready = 0
    var peakStreams = 0
    /// How often `http2HasFreeStreams` was called.
    var offers = 0
    /// Anything heard after `didClose`.
    var late = 0

    /// Counted, for some tests ask after each of very many.
    var outcomeCount = 0

    /// The single outcome of each request, in the order of contexts.
    var each: [Outcome] { self.outcomes.sorted { $0.key < $1.key }.flatMap(\.value) }
}

/// A client connection that sends `backlog` requests as streams allow, and remembers what became of them.
final class TestClient: HTTP2ClientDelegate {
    private(set) var http: HTTP2Client!
    let loop: EventLoop
    var record = ClientRecord()
    /// How many requests are still to be submitted.
    var backlog = 0
    var body: [UInt8] = Array(repeating: UInt8(ascii: "x"), count: 263)
    private var nextContext: UInt64
    private let headers = HeaderBlock()
    private let shared: Int

    var onSubmit: (TestClient, UInt64) -> Void = { _, _ in }
    var onReady: (TestClient) -> Void = { _ in }
    var onOutcome: (TestClient, UInt64, Outcome) -> Void = { _, _, _ in }
    var onLimit: (TestClient, Int) -> Void = { _, _ in }
    var onGoAway: (TestClient) -> Void = { _ in }
    var onClose: (TestClient) -> Void = { _ in }

    private static let method = HeaderName(":method")
    private static let path = HeaderName(":path", .none)
    private static let id = HeaderName("apns-id", .nameOnly)

    init(
        to port: UInt16,
        tls: TLSContext?,
        settings: HTTP2Client.Settings = .init(),
        firstContext: UInt64 = 0,
        on loop: EventLoop
    ) {
        self.loop = loop
        self.nextContext = firstContext
        self.headers.append(Self.method, "POST")
        self.shared = self.headers.count
        var settings = settings
        settings.keptHeaders = ["apns-id", "x-late"]
        self.http = HTTP2Client(
            to: Endpoint(host: "localhost", port: port),
            tls: tls,
            authority: "localhost",
            settings: settings,
            on: loop,
            delegate: self
        )
    }

    /// The apns-id of a request.
    static func name(_ context: UInt64) -> String { "request-\(context)" }

    func fill() {
        while self.backlog > 0, self.http.availableStreams > 0 { self.submit() }
    }

    @discardableResult
    func submit() -> UInt64 {
        let context = self.nextContext
        self.nextContext += 1
        self.backlog -= 1
        self.headers.cut(to: self.shared)
        self.headers.append(Self.path, "/3/device/\(context)")
        self.headers.append(HeaderName("authorization"), "bearer something")
        self.headers.append(Self.id, Self.name(context))
        let stream = self.http.submit(self.headers, body: Body(self.body), context: context)
        self.record.streams[context] = stream
        self.onSubmit(self, context)
        self.record.peakStreams = max(self.record.peakStreams, self.http.openStreams)
        return context
    }

    private func end(_ context: UInt64, _ outcome: Outcome) {
        self.heard()
        self.record.outcomes[context, default: []].append(outcome)
        self.record.outcomeCount += 1
        self.onOutcome(self, context, outcome)
    }

    private func heard() {
        if !self.record.closes.isEmpty { self.record.late += 1 }
    }

    func http2DidBecomeReady(_: HTTP2Client) {
        self.heard()
        self.record.ready += 1
        self.onReady(self)
        self.fill()
    }

    func http2(_: HTTP2Client, didChangeStreamLimit limit: Int) {
        self.heard()
        self.record.limits.append(limit)
        self.onLimit(self, limit)
    }

    func http2(_: HTTP2Client, context: UInt64, didReceive response: HTTP2Response) {
        func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
        let kept = [response.header(0).map(text), response.header(1).map(text)]
        self.end(context, .answered(status: response.status, kept: kept, body: text(response.body)))
    }

    func http2(_: HTTP2Client, context: UInt64, didFail failure: StreamFailure) {
        self.end(context, .failed(failure))
    }

    func http2(_: HTTP2Client, didReceive goAway: GoAway) {
        self.heard()
        self.record.goAways.append(goAway)
        self.onGoAway(self)
    }

    func http2HasFreeStreams(_: HTTP2Client) {
        self.heard()
        self.record.offers += 1
        self.fill()
    }

    func http2(_: HTTP2Client, didClose reason: CloseReason) {
        self.heard()
        self.record.closes.append(reason)
        self.onClose(self)
    }
}
