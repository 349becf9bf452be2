internal import HTTP2
internal import Loop
internal import Push
internal import Wire

/// One connection of the simulator.
final class Session {
    private unowned let server: Server
    private var connection: HTTP2Server?
    /// The sender's address.
    let source: String
    /// What it met as it came in.
    let fault: FaultRules.Fault?
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
    /// Whether nothing is said on it any more.
    private var isSilent = false
    private var watchesIdleness = false
    /// PINGs received when its idleness was looked at last.
    private var pingsSeen = 0

    init(server: Server, source: String, fault: FaultRules.Fault?) {
        self.server = server
        self.source = source
        self.fault = fault
    }

    /// The stream limit that it keeps whatever is judged.
    var heldStreams: UInt32? {
        if case .settings(let form)? = self.fault?.action { form.streams } else { nil }
    }

    /// Takes over the connection that a listener has accepted.
    func begin(_ make: (any TransportDelegate) -> Transport, settings: HTTP2Server.Settings) {
        self.connection = HTTP2Server(accepted: make, settings: settings, on: self.server.loop, delegate: self)
    }

    /// What the client showed in the handshake.
    var peerCertificate: Certificate? { self.connection?.peerCertificate }

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

    /// Answers in a way that is not usual.
    func answer(_ stream: Int32, with answer: Answer, form: FaultRule.AnswerForm) {
        let body =
            switch form.extent {
            case .whole: answer.body
            case .headers: [UInt8]()
            case .half: Array(answer.body.prefix(answer.body.count / 2))
            }
        let isPaused = form.pause > .zero && !body.isEmpty
        let isWhole = form.extent == .whole
        self.connection?.respond(
            stream: stream,
            status: Int(answer.status),
            headers: self.server.headers.fill(with: answer, retryAfter: form.retryAfter),
            body: isPaused ? .none : Body(body),
            endsStream: isWhole && !isPaused
        )
        if !isWhole { self.abandon(stream) }
        guard isPaused else { return }
        self.isOwed(1)
        self.server.after(form.pause) { [weak self] in
            guard let self else { return }
            self.isOwed(-1)
            // Half a body cannot be followed by its end, so that the rest is what never comes.
            if isWhole { self.connection?.finish(stream: stream, body: Body(body)) }
            self.closeIfDone()
        }
    }

    func reset(_ stream: Int32, code: UInt32, then: UInt32? = nil) {
        self.connection?.reset(stream: stream, code: code)
        guard let then else { return }
        // The first one has ended the stream, so that HTTP/2 has nothing more to say about it: RFC 9113 §6.4, by hand.
        let number = UInt32(bitPattern: stream)
        let frame: [UInt8] = [0, 0, 4, 3, 0] + Self.bytes(number) + Self.bytes(then)
        self.connection?.inject(frame)
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xff), UInt8(value >> 8 & 0xff), UInt8(value & 0xff)]
    }

    /// The stream stays open and gets no answer.
    func abandon(_ stream: Int32) {
        self.abandoned.insert(stream)
    }

    func announce(_ limit: UInt32) {
        self.connection?.setMaxConcurrentStreams(Int(limit))
    }

    // MARK: Ending

    /// Says that there will be a GOAWAY (RFC 9113 §6.8).
    func warn() {
        self.connection?.goAway(lastStreamID: .max, code: 0)
    }

    /// Streams above `lastStream` get no answer any more; when the others have theirs, the connection closes, unless
    /// the GOAWAY's form says otherwise.
    func goAway(_ farewell: Farewell, lastStream: Int32) {
        self.lastStream = min(self.lastStream, lastStream)
        self.connection?.goAway(lastStreamID: lastStream, code: farewell.code, debugData: farewell.debugData)
        switch farewell.form.then {
        case .stay: return
        case .drop: return self.endWhenSent(ending: "GOAWAY, and dropped")
        case .silence:
            // The GOAWAY has to leave first.
            self.server.loop.after(.zero) { [weak self] in self?.fallSilent(reads: true) }
            self.server.after(farewell.form.silence) { [weak self] in
                self?.end(withReset: false, ending: "GOAWAY, and silence")
            }
        case .drain:
            guard !self.isClosing else { return }
            self.isClosing = true
            self.server.after(Self.drainTimeout) { [weak self] in
                self?.end(withReset: false, ending: "GOAWAY, and requests were left")
            }
        }
    }

    /// Resets the connection, but not before what was said in this turn has left.
    func endWhenSent(ending: String) {
        if self.ending == nil { self.ending = ending }
        self.server.loop.after(.zero) { [weak self] in self?.end(withReset: true, ending: ending) }
    }

    /// From now on nothing is said any more.
    func fallSilent(reads: Bool) {
        self.isSilent = true
        self.connection?.isSilent = true
        if !reads { self.connection?.pauseReading() }
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

// MARK: - Faults and policy

extension Session {
    /// Does what a rule does to a connection that has just opened.
    private func greet(with fault: FaultRules.Fault) {
        switch fault.action {
        case .settings(let form) where !form.isSent:
            // Nothing may be said before the SETTINGS, so nothing ever is.
            self.fallSilent(reads: true)
        case .settings:
            guard fault.delay > .zero else { return }
            self.connection?.isSilent = true
            self.server.after(fault.delay) { [weak self] in
                guard let self, !self.isSilent else { return }
                self.connection?.isSilent = false
            }
        case .goAway(let code, let debugData, let lastStream, let form) where form.isBeforeSettings:
            // Right away, before there is anything else to say.
            self.sayGoAway(code, debugData, lastStream, form)
        default:
            self.server.after(fault.delay) { [weak self] in self?.apply(fault.action) }
        }
    }

    /// Does what a rule does to a connection, beside any request.
    func apply(_ action: FaultRule.Action) {
        guard let place = self.place else { return }
        switch action {
        case .ignorePings: self.connection?.acknowledgesPings = false
        case .blackHole(let reads): self.fallSilent(reads: reads)
        case .drop: self.end(withReset: true, ending: "dropped by a rule")
        case .close: self.end(withReset: false, ending: "closed by a rule")
        case .goAway(let code, let debugData, let lastStream, let form):
            self.sayGoAway(code, debugData, lastStream, form)
        case .settings(let form):
            if let window = form.window { self.connection?.setInitialWindow(window) }
            guard let streams = form.streams else { return }
            if let limit = self.server.service.hold(streams, on: place) { self.announce(limit) }
            guard let lasts = form.lasts else { return }
            self.server.after(lasts) { [weak self] in
                guard let self, let place = self.place else { return }
                if let limit = self.server.service.hold(nil, on: place) { self.announce(limit) }
            }
        default: break
        }
    }

    private func sayGoAway(
        _ code: UInt32,
        _ debugData: String,
        _ lastStream: FaultRule.LastStream,
        _ form: FaultRule.GoAwayForm
    ) {
        let farewell = Farewell(code: code, debugData: Array(debugData.utf8), lastStream: lastStream, form: form)
        self.server.sayGoAway(self, farewell, lastStream: lastStream.number(for: self.newestStream))
        self.closeIfDone()
    }

    /// Sees to it that the connection ends when it has been idle for too long.
    func watchIdleness() {
        guard !self.watchesIdleness, let timeout = self.server.service.policy.idleTimeout else { return }
        self.watchesIdleness = true
        self.pingsSeen = self.traffic.pings
        self.server.after(timeout) { [weak self] in self?.lookAtIdleness() }
    }

    private func lookAtIdleness() {
        self.watchesIdleness = false
        guard let place = self.place, !self.isClosing, let connection = self.server.service.connection(place),
            let timeout = self.server.service.policy.idleTimeout
        else { return }
        let idle = self.server.moment.monotonic - connection.lastRequestAt
        guard idle >= timeout, connection.open == 0, self.traffic.pings == self.pingsSeen else {
            self.watchesIdleness = true
            let isBusy = connection.open > 0 || self.traffic.pings != self.pingsSeen || idle >= timeout
            self.pingsSeen = self.traffic.pings
            return self.server.after(isBusy ? timeout : timeout - idle) { [weak self] in self?.lookAtIdleness() }
        }
        self.sayGoAway(0, "{\"reason\":\"IdleTimeout\"}", .current, FaultRule.GoAwayForm())
    }
}

extension Session: HTTP2ServerDelegate {
    func http2ServerDidOpen(_: HTTP2Server) {
        self.place = self.server.didOpen(self)
        if let fault = self.fault { self.greet(with: fault) }
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
