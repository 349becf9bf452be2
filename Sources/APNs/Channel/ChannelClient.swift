package import HTTP2
package import Loop
internal import Push
package import Wire

/// One connection to the channel management API, which has hosts and ports of its own. Carries out one order, tells what
/// came of it, and closes.
package final class ChannelClient {
    private let order: ChannelOrder
    private let bundleID: String
    private let token: ProviderToken?
    private let completion: (Result<ChannelAnswer, ChannelFailure>) -> Void
    private var http2: HTTP2Client!
    private var outcome: Result<ChannelAnswer, ChannelFailure>?
    private var isSent = false
    /// Holds the client until it is over.
    private var itself: ChannelClient?

    /// Begins to connect.
    /// - Parameters:
    ///   - tls: made with ALPN `h2`, and with the client certificate if that is the credential.
    ///   - token: nil with a client certificate.
    ///   - timeout: for connecting, and again for the answer.
    ///   - completion: called once, on the loop.
    @discardableResult
    package init(
        _ order: ChannelOrder,
        bundleID: String,
        at endpoint: Endpoint,
        tls: TLSContext,
        token: ProviderToken?,
        timeout: Duration = .seconds(10),
        on loop: EventLoop,
        completion: @escaping (Result<ChannelAnswer, ChannelFailure>) -> Void
    ) {
        self.order = order
        self.bundleID = bundleID
        self.token = token
        self.completion = completion
        var settings = HTTP2Client.Settings()
        settings.transport.connectTimeout = timeout
        settings.settingsTimeout = timeout
        settings.requestTimeout = timeout
        settings.keptHeaders = ["apns-channel-id"]
        // Ten thousand ids of up to 256 characters.
        settings.maxResponseBody = 4 * 1024 * 1024
        self.http2 = HTTP2Client(
            to: endpoint,
            tls: tls,
            authority: endpoint.host,
            settings: settings,
            on: loop,
            delegate: self
        )
        self.itself = self
    }

    private func send() {
        guard !self.isSent, self.http2.availableStreams > 0 else { return }
        self.isSent = true
        let headers = HeaderBlock()
        headers.append(Name.method, self.order.method)
        headers.append(Name.path, self.order.path(bundleID: self.bundleID))
        if let token = self.token { headers.append(Name.authorization, "bearer \(token.text)") }
        if let channel = self.order.channel { headers.append(Name.channelID, channel) }
        self.http2.submit(headers, body: Body(self.order.body), context: 0)
    }

    private static func translate(_ failure: StreamFailure) -> ChannelFailure {
        switch failure {
        case .notProcessed(.refused): .unreachable("the server takes no request")
        case .notProcessed(.goAway): .unreachable("the server ended the connection with GOAWAY")
        case .notProcessed(.neverSent): .unreachable("the connection ended before the request left")
        case .unknown(.reset(let code)): .unanswered("the server reset the stream with code \(code)")
        case .unknown(.connectionLost), .unknown(.cancelled): .unanswered("the connection ended")
        case .unknown(.timeout): .unanswered("it took too long")
        case .unknown(.malformed): .unanswered("the response breaks HTTP's rules")
        }
    }

    private enum Name {
        static let method = HeaderName(":method")
        static let path = HeaderName(":path", .none)
        static let authorization = HeaderName("authorization")
        static let channelID = HeaderName("apns-channel-id")
    }
}

extension ChannelClient: HTTP2ClientDelegate {
    package func http2DidBecomeReady(_: HTTP2Client) { self.send() }

    package func http2(_: HTTP2Client, didChangeStreamLimit _: Int) { self.send() }

    package func http2HasFreeStreams(_: HTTP2Client) {}

    package func http2(_: HTTP2Client, context: UInt64, didReceive response: HTTP2Response) {
        self.outcome = self.order.outcome(status: response.status, channel: response.header(0), body: response.body)
        self.http2.close()
    }

    package func http2(_: HTTP2Client, context: UInt64, didFail failure: StreamFailure) {
        if self.outcome == nil { self.outcome = .failure(Self.translate(failure)) }
        self.http2.close()
    }

    /// A refused credential may be told so, and nowhere else.
    package func http2(_: HTTP2Client, didReceive goAway: GoAway) {
        let reason = goAway.debugData.withUnsafeBytes { Reply.reason(inDebugData: $0) }
        guard self.outcome == nil, let reason, let row = ReasonTable.row(named: reason.text) else { return }
        self.outcome = .failure(.refused(status: row.status, reason: reason))
    }

    package func http2(_: HTTP2Client, didClose reason: CloseReason) {
        self.itself = nil
        self.completion(self.outcome ?? .failure(.unreachable(reason.description)))
    }
}
