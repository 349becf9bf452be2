internal import HTTP2
internal import Loop
internal import Push
internal import Wire

/// The simulator on its loop: accepts connections, asks the push service what to do, and does it when its time comes.
final class Server {
    /// Something to do for one request.
    struct Pending {
        let session: Session
        let stream: Int32
        let entry: UInt64
        let deed: Deed
    }

    let loop: EventLoop
    /// Where it listens.
    let port: UInt16
    var service: PushService
    let headers = AnswerHeaders()
    private let overflow: HTTP2Server.Overflow
    private var listener: Listener?
    /// Connections whose TLS handshake is not done.
    private var arriving: [ObjectIdentifier: Session] = [:]
    /// Open connections by their place in the service.
    private var sessions: [Session?] = []
    /// The scenario that is played, and when its next step is due.
    var run: ScenarioRun?
    var scenarioAlarm: Deadline?
    /// Whether a step waits for a count.
    var isScenarioCounting = false
    /// Keys of the start, which a scenario may revoke and has back when it starts over.
    let keys: [ProviderKey]
    private var queue = TimedQueue<Pending>()
    private var alarm: Deadline?

    /// - Throws: `ListenError`, `TLSContextError` or `ProviderKeyError`.
    init(settings: Simulator.Settings, loop: EventLoop) throws {
        self.loop = loop
        self.overflow = settings.endsConnectionOnOverflow ? .goAway : .refuse
        var service = PushService(settings: settings.service)
        for key in settings.keys { try service.addKey(key) }
        self.service = service
        self.keys = settings.keys
        let tls = try TLSContext.server(certificate: settings.certificate, key: settings.privateKey, alpn: "h2")
        let doorman = Doorman()
        let listener = try Listener(
            on: Endpoint(host: settings.host, port: settings.port),
            tls: tls,
            loop: loop
        ) { make in doorman.server?.accept(make) }
        self.port = listener.port
        self.listener = listener
        doorman.server = self
        if let scenario = settings.scenario { self.play(scenario) }
    }

    /// Lets the listener be made before the server that it belongs to.
    private final class Doorman {
        weak var server: Server?
    }

    /// The time of this turn.
    var moment: PushService.Moment {
        PushService.Moment(wall: self.loop.wallTime, monotonic: self.loop.now)
    }

    // MARK: Connections

    private func accept(_ make: (any TransportDelegate) -> Transport) {
        var settings = HTTP2Server.Settings()
        settings.maxConcurrentStreams = Int(self.service.streams.initial)
        settings.overflow = self.overflow
        let session = Session(server: self)
        self.arriving[ObjectIdentifier(session)] = session
        session.begin(make, settings: settings)
    }

    /// A connection is ready for requests.
    func didOpen(_ session: Session) -> Int {
        self.arriving[ObjectIdentifier(session)] = nil
        let place = self.service.open(at: self.loop.wallTime)
        if place == self.sessions.count {
            self.sessions.append(session)
        } else {
            self.sessions[place] = session
        }
        if self.isScenarioCounting { self.loop.after(.zero) { [weak self] in self?.proceed() } }
        return place
    }

    /// A connection was over before it was ready.
    func neverOpened(_ session: Session) {
        self.arriving[ObjectIdentifier(session)] = nil
    }

    /// A connection that was open is over.
    func didClose(_ place: Int, traffic: ConnectionTraffic, ending: String) {
        self.sessions[place] = nil
        self.service.note(traffic, on: place)
        self.service.close(place, ending: ending, at: self.loop.wallTime)
    }

    // MARK: Requests

    /// Takes in one request.
    func receive(_ request: PushRequest, stream: Int32, on session: Session, place: Int) {
        defer { if self.isScenarioCounting { self.proceed() } }
        guard stream <= session.lastStream else {
            // Its beginning was here before the GOAWAY, its end came after it.
            let entry = self.service.ignore(request, stream: stream, on: place, at: self.moment)
            session.isUnderWay(stream, entry: entry)
            return session.abandon(stream)
        }
        let reaction = self.service.receive(request, stream: stream, on: place, at: self.moment)
        session.isUnderWay(stream, entry: reaction.entry)
        if let limit = reaction.streamLimit { session.announce(limit) }
        let pending = Pending(session: session, stream: stream, entry: reaction.entry, deed: reaction.deed)
        guard reaction.delay > .zero else { return self.perform(pending) }
        session.isOwed(1)
        self.queue.insert(pending, at: self.loop.now + reaction.delay)
        self.setAlarm()
    }

    /// A request's stream has ended, with or without its answer.
    func didEnd(_ entry: UInt64, on place: Int, isAnswered: Bool) {
        self.service.ended(entry, on: place, isAnswered: isAnswered)
    }

    private func setAlarm() {
        guard let next = self.queue.next else { return }
        if let alarm = self.alarm, alarm.isPending {
            if alarm.time <= next { return }
            alarm.cancel()
        }
        self.alarm = self.loop.at(next) { [weak self] in self?.performDue() }
    }

    private func performDue() {
        while let pending = self.queue.popDue(at: self.loop.now) {
            // Beyond the last stream of a GOAWAY it is owed no more.
            guard pending.stream <= pending.session.lastStream else { continue }
            pending.session.isOwed(-1)
            self.perform(pending)
        }
        self.setAlarm()
    }

    private func perform(_ pending: Pending) {
        let session = pending.session
        guard session.place != nil else { return }
        switch pending.deed {
        case .answer(let answer):
            session.answer(pending.stream, with: answer)
        case .goAway(let lastStream, let code, let debugData, let answer):
            if answer == nil {
                self.service.withdraw(pending.entry)
                session.abandon(pending.stream)
            }
            self.goAway(session, lastStream: lastStream, code: code, debugData: debugData)
            if let answer { session.answer(pending.stream, with: answer) }
        case .reset(let code):
            session.reset(pending.stream, code: code)
        case .drop:
            session.end(withReset: true, ending: "dropped by a rule")
        case .close:
            session.end(withReset: false, ending: "closed by a rule")
        case .stall:
            session.abandon(pending.stream)
        }
        session.closeIfDone()
    }

    /// What waits for its time beyond the last stream is taken back: its sender will take it elsewhere.
    private func goAway(_ session: Session, lastStream: Int32, code: UInt32, debugData: [UInt8]) {
        for pending in self.queue.elements
        where pending.session === session && pending.stream > lastStream && pending.stream <= session.lastStream {
            self.service.withdraw(pending.entry)
            session.abandon(pending.stream)
            session.isOwed(-1)
        }
        session.goAway(lastStream: lastStream, code: code, debugData: debugData)
    }

    // MARK: Control

    /// What it has seen, in numbers.
    var summary: LedgerSummary {
        self.noteTraffic()
        return self.service.summary
    }

    func connectionRecords(limit: Int) -> [ConnectionRecord] {
        self.noteTraffic()
        return self.service.connectionRecords(limit: limit)
    }

    private func noteTraffic() {
        for (place, session) in self.sessions.enumerated() {
            if let session { self.service.note(session.traffic, on: place) }
        }
    }

    func addRule(_ rule: FaultRule) -> String? {
        self.service.addRule(rule, at: self.loop.now)
    }

    func setStreams(initial: UInt32?, full: UInt32?, dropsAfterRejection: Bool?) {
        var streams = self.service.streams
        if let initial { streams.initial = initial }
        if let full { streams.full = full }
        if let dropsAfterRejection { streams.dropsAfterRejection = dropsAfterRejection }
        self.announce(self.service.setStreams(streams))
    }

    func reset() {
        self.announce(self.service.reset())
        self.startOver()
    }

    private func announce(_ changes: [(place: Int, limit: UInt32)]) {
        for change in changes { self.sessions[change.place]?.announce(change.limit) }
    }

    /// - Returns: how many connections there were.
    func goAwayAll(code: UInt32, debugData: String, lastStream: FaultRule.LastStream) -> Int {
        let open = self.sessions.compactMap { $0 }
        for session in open {
            let last: Int32 =
                switch lastStream {
                case .current: session.newestStream
                case .zero: 0
                case .stream(let number): number
                }
            self.goAway(session, lastStream: last, code: code, debugData: Array(debugData.utf8))
            session.closeIfDone()
        }
        return open.count
    }

    /// - Returns: how many connections there were.
    func dropAll() -> Int {
        let open = self.sessions.compactMap { $0 }
        for session in open { session.end(withReset: true, ending: "dropped on request") }
        return open.count
    }

    /// Ends everything, the loop as well.
    func stop() {
        self.listener?.close()
        self.listener = nil
        self.alarm?.cancel()
        self.scenarioAlarm?.cancel()
        for session in self.arriving.values { session.end(withReset: true, ending: "stopped") }
        _ = self.dropAll()
        self.loop.stop()
    }
}
