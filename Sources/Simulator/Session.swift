internal import HTTP2
internal import Loop
internal import Wire

/// One connection of the simulator.
final class Session {
    private unowned let server: Server
    private var connection: HTTP2Server?
    /// Its place in the service; nil before the TLS handshake is done and after the end.
    private(set) var place: Int?
    /// The lowest last stream that a GOAWAY has told.
    private(set) var lastStream = Int32.max
    /// The ledger's entries of streams that have not ended yet.
    private var entries: [Int32: UInt64] = [:]
    /// Streams that nobody will answer.
    private var abandoned: Set<Int32> = []
    /// Requests that wait for their time in the server's queue.
    private var owed = 0
    private var ending: String?
    private var isClosing = false

    init(server: Server) {
        self.server = server
    }

    /// Takes over the connection that a listener has accepted.
    func begin(_ make: (any TransportDelegate) -> Transport, settings: HTTP2Server.Settings) {
        self.connection = HTTP2Server(accepted: make, settings: settings, on: self.server.loop, delegate: self)
    }

    /// The newest stream that the client has opened.
    var newestStream: Int32 { self.connection?.highestStreamID ?? 0 }

    /// What it has seen beside the requests.
    var traffic: ConnectionTraffic {
        guard let counters = self.connection?.counters else { return ConnectionTraffic() }
        return ConnectionTraffic(pings: counters.pings, refusedStreams: counters.refused, resets: counters.resets)
    }

    // MARK: Answering

    /// Remembers what a stream's end is the end of.
    func isUnderWay(_ stream: Int32, entry: UInt64) {
        self.entries[stream] = entry
    }

    /// So many requests more wait for their time.
    func isOwed(_ change: Int) {
        self.owed += change
    }

    func answer(_ stream: Int32, with answer: Answer) {
        self.connection?.respond(
            stream: stream,
            status: Int(answer.status),
            headers: self.server.headers.fill(with: answer),
            body: Body(answer.body)
        )
    }

    func reset(_ stream: Int32, code: UInt32) {
        self.connection?.reset(stream: stream, code: code)
    }

    /// The stream stays open and gets no answer.
    func abandon(_ stream: Int32) {
        self.abandoned.insert(stream)
    }

    func announce(_ limit: UInt32) {
        self.connection?.setMaxConcurrentStreams(Int(limit))
    }

    // MARK: Ending

    /// Streams above `lastStream` get no answer any more; when the others have theirs, the connection closes.
    func goAway(lastStream: Int32, code: UInt32, debugData: [UInt8]) {
        self.lastStream = min(self.lastStream, lastStream)
        self.connection?.goAway(lastStreamID: lastStream, code: code, debugData: debugData)
        guard !self.isClosing else { return }
        self.isClosing = true
        self.server.loop.after(Self.drainTimeout) { [weak self] in
            self?.end(withReset: false, ending: "GOAWAY, and requests were left")
        }
    }

    /// Closes after a GOAWAY when nothing is owed any more.
    func closeIfDone() {
        guard self.isClosing, self.owed == 0, let connection = self.connection else { return }
        guard self.lastStream == 0 || connection.openStreams <= self.abandoned.count else { return }
        // Not from within a frame that is just being read: the GOAWAY could not leave any more.
        self.server.loop.after(.zero) { [weak self] in self?.end(withReset: false, ending: "GOAWAY") }
    }

    /// Ends the connection now.
    func end(withReset: Bool, ending: String) {
        guard let connection = self.connection else { return }
        if self.ending == nil { self.ending = ending }
        withReset ? connection.abort() : connection.close()
    }

    private static let drainTimeout = Duration.seconds(30)
}

extension Session: HTTP2ServerDelegate {
    func http2ServerDidOpen(_: HTTP2Server) {
        self.place = self.server.didOpen(self)
    }

    func http2Server(_: HTTP2Server, stream: Int32, didReceive request: HTTP2Request) {
        guard let place = self.place else { return }
        self.server.receive(PushRequest(request), stream: stream, on: self, place: place)
    }

    func http2Server(_: HTTP2Server, stream: Int32, didEnd end: ServerStreamEnd) {
        guard let entry = self.entries.removeValue(forKey: stream), let place = self.place else { return }
        self.abandoned.remove(stream)
        // Without an error a stream ends only when both sides have said all.
        let isAnswered = end == .answered || end == .reset(0)
        self.server.didEnd(entry, on: place, isAnswered: isAnswered)
        if self.isClosing { self.closeIfDone() }
    }

    func http2Server(_: HTTP2Server, didClose reason: CloseReason) {
        if let place = self.place {
            self.server.didClose(place, traffic: self.traffic, ending: self.ending ?? reason.description)
        } else {
            self.server.neverOpened(self)
        }
        self.place = nil
        self.connection = nil
    }
}

extension PushRequest {
    /// Copies what the checks and the ledger need.
    fileprivate init(_ request: HTTP2Request) {
        var head = RequestHead(method: request.method, path: request.path)
        for index in 0..<request.fieldCount {
            head.add(name: request.name(at: index), value: request.value(at: index))
        }
        self.init(head: head, body: Array(request.body), bodySize: request.bodySize)
    }
}
