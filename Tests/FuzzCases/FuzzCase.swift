internal import HTTP2
package import Loop
internal import Wire

/// One run of a client against bytes that claim to come from a server, all in memory: no socket, no time.
///
/// The first two bytes of an input say how the client behaves and how the bytes arrive; the rest is what the server
/// says.
package struct FuzzCase {
    /// What went wrong; empty when nothing did.
    package private(set) var faults: [String] = []
    package private(set) var reason = ""
    package private(set) var answered = 0
    package private(set) var failed = 0
    package private(set) var sessionMemory = 0

    /// More than HPACK and parts of frames may take for one connection with `FuzzPlay.most` requests.
    package static let memoryBound = 1 << 20

    package init(_ input: UnsafeRawBufferPointer, on loop: EventLoop) {
        guard input.count > 2 else { return }
        let play = FuzzPlay(manner: input[0], on: loop)
        play.run(UnsafeRawBufferPointer(rebasing: input[2...]), pace: input[1])
        self.faults = play.faults
        self.reason = play.reasons.first ?? ""
        self.answered = play.answered
        self.failed = play.outcomes.count - play.answered
        self.sessionMemory = play.http.sessionMemory
        if self.sessionMemory > Self.memoryBound { self.faults.append("\(self.sessionMemory) bytes were held") }
    }
}

/// The client and its owner in one case.
final class FuzzPlay: HTTP2ClientDelegate {
    /// How many requests a client sends in all.
    static let most = 48

    private(set) var http: HTTP2Client!
    private(set) var faults: [String] = []
    private(set) var reasons: [String] = []
    /// By context.
    private(set) var outcomes: [UInt64: Int] = [:]
    private(set) var answered = 0
    private var transport: Transport!
    private var submitted: [Int32] = []
    private let manner: UInt8
    private let headers = HeaderBlock()

    init(manner: UInt8, on loop: EventLoop) {
        self.manner = manner
        self.headers.append(HeaderName(":method"), "POST")
        self.headers.append(HeaderName(":path"), "/3/device/0123")
        var settings = HTTP2Client.Settings()
        settings.keptHeaders = ["apns-id", "retry-after"]
        settings.measuresMemory = true
        self.http = HTTP2Client(usesTLS: false, authority: "localhost", settings: settings, on: loop, delegate: self) {
            self.transport = Transport(
                connectingTo: Endpoint(host: "127.0.0.1", port: 1),
                tls: nil,
                on: loop,
                delegate: $0
            )
            return self.transport
        }
    }

    /// - Parameter pace: how many bytes arrive at once; 0 for all.
    func run(_ bytes: UnsafeRawBufferPointer, pace: UInt8) {
        self.http.transportDidOpen(self.transport)
        self.http.transportWillFlush(self.transport)
        let chunk = pace == 0 ? bytes.count : Int(pace)
        var start = 0
        while start < bytes.count, !self.http.isClosed {
            let end = min(start + chunk, bytes.count)
            // A copy of exactly this size, so that a sanitizer sees whoever reads beyond it.
            let part = UnsafeMutableRawBufferPointer.allocate(byteCount: end - start, alignment: 1)
            part.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            self.http.transport(self.transport, didReceive: UnsafeRawBufferPointer(part))
            part.deallocate()
            self.http.transportWillFlush(self.transport)
            start = end
        }
        switch self.manner >> 6 {
        case 0: self.http.close()
        case 1: self.http.transport(self.transport, didClose: .closedByPeer)
        case 2: self.http.drain()
        default: for stream in self.submitted { self.http.cancel(stream) }
        }
        self.http.transportWillFlush(self.transport)
        self.http.close()
        self.transport.close()
        self.judge()
    }

    private func judge() {
        if self.reasons.count != 1 { self.faults.append("closed \(self.reasons.count) times") }
        if self.reasons.first?.isEmpty == true { self.faults.append("closed without a reason") }
        for context in 0..<UInt64(self.submitted.count) where self.outcomes[context] != 1 {
            self.faults.append("request \(context) has \(self.outcomes[context] ?? 0) outcomes")
        }
        if self.outcomes.count > self.submitted.count { self.faults.append("an outcome of no request") }
    }

    private func fill() {
        // How many may wait at a time: 1, 4, 16 or all.
        let together = [1, 4, 16, Self.most][Int(self.manner & 3)]
        while self.submitted.count < Self.most, self.http.availableStreams > 0,
            self.submitted.count - self.outcomes.count < together
        {
            let context = UInt64(self.submitted.count)
            let body = self.manner & 4 == 0 ? Body(Array(repeating: 120, count: 200)) : .none
            self.submitted.append(0)
            self.submitted[Int(context)] = self.http.submit(self.headers, body: body, context: context)
        }
    }

    private func end(_ context: UInt64) {
        self.heard()
        self.outcomes[context, default: 0] += 1
        if self.manner & 8 != 0, context == 5 { self.http.drain() }
        if self.manner & 16 != 0, context == 7, let last = self.submitted.last { self.http.cancel(last) }
        if self.manner & 32 != 0, context == 9 { self.http.close() }
    }

    private func heard() {
        if !self.reasons.isEmpty { self.faults.append("heard something after the end") }
    }

    func http2DidBecomeReady(_: HTTP2Client) {
        self.heard()
        self.fill()
    }

    func http2(_: HTTP2Client, didChangeStreamLimit limit: Int) {
        self.heard()
        if limit < 0 { self.faults.append("a limit of \(limit)") }
    }

    func http2(_: HTTP2Client, context: UInt64, didReceive response: HTTP2Response) {
        self.answered += 1
        if !(200...999).contains(response.status) { self.faults.append("status \(response.status)") }
        if response.body.count > 16 * 1024 { self.faults.append("a body of \(response.body.count) bytes") }
        // Every byte is touched, for a sanitizer.
        let sum = response.body.reduce(0, { $0 &+ $1 }) &+ (response.header(1)?.reduce(0, { $0 &+ $1 }) ?? 0)
        withExtendedLifetime(sum) { self.end(context) }
    }

    func http2(_: HTTP2Client, context: UInt64, didFail _: StreamFailure) {
        self.end(context)
    }

    func http2(_: HTTP2Client, didReceive goAway: GoAway) {
        self.heard()
        if goAway.debugData.count > 1024 { self.faults.append("\(goAway.debugData.count) bytes of debug data") }
    }

    func http2HasFreeStreams(_: HTTP2Client) {
        self.heard()
        self.fill()
    }

    func http2(_: HTTP2Client, didClose reason: CloseReason) {
        self.heard()
        self.reasons.append(reason.description)
    }
}
