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

    /// What waits for its time.
    private enum Due {
        case deed(Pending)
        case call(() -> Void)
    }

    let loop: EventLoop
    /// Where it listens.
    let port: UInt16
    var service: PushService
    private(set) var clock = VirtualClock()
    let headers = AnswerHeaders()
    /// For connections that are about to be made.
    var overflow: StreamOverflow
    var windows = FaultRule.SettingsForm()
    private let initialScale: Double
    private let initialOverflow: StreamOverflow
    private let initialWindows: FaultRule.SettingsForm
    private let host: String
    let certificates: ServerCertificates
    private var listener: Listener?
    /// Connections that have come in and whose TLS handshake has not begun.
    var held: [ObjectIdentifier: Arrival] = [:]
    /// Connections on which nothing will ever be said.
    var mute: [ObjectIdentifier: MuteLine] = [:]
    /// The channel management API, if it is wanted.
    private(set) var channelServer: ChannelServer?
    /// Connections whose TLS handshake is not done.
    var arriving: [ObjectIdentifier: Session] = [:]
    /// Open connections by their place in the service.
    private var sessions: [Session?] = []
    /// The scenario that is played, and when its next step is due.
    var run: ScenarioRun?
    var scenarioAlarm: Deadline?
    /// Whether a step waits for a count.
    var isScenarioCounting = false
    /// Keys of the start, which a scenario may revoke and has back when it starts over.
    let keys: [ProviderKey]
    private(set) var openSessions = 0
    private var queue = TimedQueue<Due>()
    private var alarm: Deadline?
    /// Those who wait for pushes.
    var waiters: [PushWaiter] = []

    /// - Throws: `ListenError`, `TLSContextError` or `ProviderKeyError`.
    init(settings: Simulator.Settings, loop: EventLoop) throws {
        self.loop = loop
        self.overflow = settings.overflow
        self.windows.window = settings.window
        self.windows.connectionWindow = settings.connectionWindow
        self.initialScale = settings.clockScale
        self.initialOverflow = settings.overflow
        self.initialWindows = self.windows
        self.host = settings.host
        var service = PushService(settings: settings.service)
        for key in settings.keys { try service.addKey(key) }
        self.service = service
        self.keys = settings.keys
        self.certificates = try ServerCertificates(
            usual: CertificateFiles(certificate: settings.certificate, privateKey: settings.privateKey),
            others: settings.certificates,
            clients: settings.clientAuthorities.map { .signed(byAuthoritiesIn: $0) } ?? .any
        )
        let doorman = Doorman()
        let endpoint = Endpoint(host: settings.host, port: settings.port)
        let listener = try Listener(on: endpoint, loop: loop) { arrival in doorman.server?.accept(arrival) }
        self.port = listener.port
        self.listener = listener
        doorman.server = self
        if settings.clockScale != 1 { self.clock.run(at: settings.clockScale, from: self.realMoment) }
        if let port = settings.channelPort {
            self.channelServer = try ChannelServer(settings: settings, port: port, server: self)
        }
        if let scenario = settings.scenario { self.play(scenario) }
    }

    /// Lets the listener be made before the server that it belongs to.
    private final class Doorman {
        weak var server: Server?
    }

    // MARK: Time

    /// The time of this turn, as it is.
    var realMoment: PushService.Moment {
        PushService.Moment(wall: self.loop.wallTime, monotonic: self.loop.now)
    }

    /// The time of this turn, as the simulator has it.
    var moment: PushService.Moment { self.clock.moment(at: self.realMoment) }

    /// Changes the clock; what is due by then is done when this turn ends.
    func changeClock(_ body: (inout VirtualClock, _ real: PushService.Moment) -> Void) {
        body(&self.clock, self.realMoment)
        self.alarm?.cancel()
        self.setAlarm()
    }

    /// Calls `body` after so much of the simulator's time.
    func after(_ duration: Duration, _ body: @escaping () -> Void) {
        self.queue.insert(.call(body), at: self.moment.monotonic + duration)
        self.setAlarm()
    }

    // MARK: Connections

    /// Whether new connections are taken; else the system refuses them.
    var listens: Bool {
        get { self.listener != nil }
        set {
            guard newValue != self.listens else { return }
            guard newValue else {
                self.listener?.close()
                self.listener = nil
                return
            }
            let endpoint = Endpoint(host: self.host, port: self.port)
            self.listener = try? Listener(on: endpoint, loop: self.loop) { [weak self] in self?.accept($0) }
        }
    }

    /// A connection is ready for requests.
    func didOpen(_ session: Session) -> Int {
        self.arriving[ObjectIdentifier(session)] = nil
        let place = self.service.open(
            at: self.moment,
            from: session.source,
            fault: session.fault,
            held: session.heldStreams
        )
        self.openSessions += 1
        if place == self.sessions.count {
            self.sessions.append(session)
        } else {
            self.sessions[place] = session
        }
        if self.isScenarioCounting { self.loop.after(.zero) { [weak self] in self?.proceed() } }
        session.watchIdleness()
        if let certificate = session.peerCertificate { self.welcome(session, with: certificate, at: place) }
        return place
    }

    private func welcome(_ session: Session, with certificate: Certificate, at place: Int) {
        switch self.service.present(certificate, on: place, at: self.moment) {
        case .accepted(let limit): if let limit { session.announce(limit) }
        case .refused(let debugData):
            let farewell = Farewell(code: 0, debugData: Array(debugData.utf8), lastStream: .zero)
            session.goAway(farewell, lastStream: 0)
            session.closeIfDone()
        }
    }

    /// A connection was over before it was ready.
    func neverOpened(_ session: Session) {
        self.arriving[ObjectIdentifier(session)] = nil
    }

    /// A connection that was open is over.
    func didClose(_ place: Int, traffic: ConnectionTraffic, ending: String) {
        self.openSessions -= 1
        self.sessions[place] = nil
        self.service.note(traffic, on: place)
        self.service.close(place, ending: ending, at: self.moment.wall)
    }

    // MARK: Requests

    /// Takes in one request.
    func receive(_ request: PushRequest, stream: Int32, on session: Session, place: Int) {
        defer { if self.isScenarioCounting { self.proceed() } }
        let now = self.moment
        guard stream <= session.lastStream else {
            // Its beginning was here before the GOAWAY, its end came after it.
            let entry = self.service.ignore(request, stream: stream, on: place, at: now)
            session.isUnderWay(stream, entry: entry)
            return session.abandon(stream)
        }
        let reaction = self.service.receive(request, stream: stream, on: place, at: now)
        if !self.waiters.isEmpty { self.wakeWaiters(for: request.token) }
        session.isUnderWay(stream, entry: reaction.entry)
        if let limit = reaction.streamLimit { session.announce(limit) }
        let pending = Pending(session: session, stream: stream, entry: reaction.entry, deed: reaction.deed)
        guard reaction.delay > .zero else { return self.perform(pending) }
        session.isOwed(1)
        self.queue.insert(.deed(pending), at: now.monotonic + reaction.delay)
        self.setAlarm()
    }

    /// A request's stream has ended, with or without its answer.
    func didEnd(_ entry: UInt64, on place: Int, isAnswered: Bool) {
        self.service.ended(entry, on: place, isAnswered: isAnswered)
    }

    private func setAlarm() {
        guard let due = self.queue.next else { return }
        let next = self.clock.realTime(of: due)
        guard next < .distantFuture else { return }
        if let alarm = self.alarm, alarm.isPending {
            if alarm.time <= next { return }
            alarm.cancel()
        }
        self.alarm = self.loop.at(next) { [weak self] in self?.performDue() }
    }

    private func performDue() {
        let now = self.moment.monotonic
        while let due = self.queue.popDue(at: now) {
            switch due {
            case .call(let body): body()
            case .deed(let pending):
                // Beyond the last stream of a GOAWAY it is owed no more.
                guard pending.stream <= pending.session.lastStream else { continue }
                pending.session.isOwed(-1)
                self.perform(pending)
            }
        }
        self.setAlarm()
    }

    private func perform(_ pending: Pending) {
        let session = pending.session
        guard session.place != nil else { return }
        self.perform(pending.deed, pending)
        session.closeIfDone()
    }

    private func perform(_ deed: Deed, _ pending: Pending) {
        let session = pending.session
        let stream = pending.stream
        switch deed {
        case .answer(let answer): session.answer(stream, with: answer)
        case .formed(let answer, let form): session.answer(stream, with: answer, form: form)
        case .goAway(let farewell, let answer): self.goAway(farewell, answer: answer, pending)
        case .reset(let code, let then): session.reset(stream, code: code, then: then)
        case .drop: session.end(withReset: true, ending: "dropped by a rule")
        case .close: session.end(withReset: false, ending: "closed by a rule")
        case .stall: session.abandon(stream)
        case .blackHole(let reads):
            session.abandon(stream)
            session.fallSilent(reads: reads)
        case .also(let action, let rest):
            session.apply(action)
            self.perform(rest, pending)
        case .last(let rest, let ending):
            self.perform(rest, pending)
            switch ending {
            case .drop: session.endWhenSent(ending: "too many errors")
            case .goAway:
                let farewell = Farewell(code: 0, debugData: [], lastStream: .current)
                self.sayGoAway(session, farewell, lastStream: session.newestStream)
            }
        }
    }

    // MARK: GOAWAY

    private func goAway(_ farewell: Farewell, answer: Answer?, _ pending: Pending) {
        let session = pending.session
        let isBeyond = farewell.lastStream.number(for: pending.stream) < pending.stream
        if answer == nil {
            if isBeyond { self.service.withdraw(pending.entry) }
            session.abandon(pending.stream)
        }
        if let answer, farewell.form.warning != nil { session.answer(pending.stream, with: answer) }
        self.sayGoAway(session, farewell, lastStream: farewell.lastStream.number(for: pending.stream))
        if let answer, farewell.form.warning == nil { session.answer(pending.stream, with: answer) }
    }

    /// Says GOAWAY, after a warning if there is to be one, and does what is to come after it.
    func sayGoAway(_ session: Session, _ farewell: Farewell, lastStream: Int32) {
        guard let warning = farewell.form.warning else { return self.end(session, farewell, lastStream: lastStream) }
        session.warn()
        self.after(warning) { [weak self, weak session] in
            guard let self, let session, session.place != nil else { return }
            // What came after the warning was welcome.
            let last = farewell.lastStream == .current ? session.newestStream : lastStream
            self.end(session, farewell, lastStream: last)
            session.closeIfDone()
        }
    }

    private func end(_ session: Session, _ farewell: Farewell, lastStream: Int32) {
        self.takeBack(session, after: lastStream)
        session.goAway(farewell, lastStream: lastStream)
    }

    /// What waits for its time beyond the last stream is taken back: its sender will take it elsewhere.
    private func takeBack(_ session: Session, after lastStream: Int32) {
        for case .deed(let pending) in self.queue.elements
        where pending.session === session && pending.stream > lastStream && pending.stream <= session.lastStream {
            self.service.withdraw(pending.entry)
            session.abandon(pending.stream)
            session.isOwed(-1)
        }
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
        self.service.addRule(rule, at: self.moment.monotonic)
    }

    /// Why a rule cannot be used here, though it reads well.
    func problem(with rule: FaultRule) -> BadField? {
        guard case .handshake(let form) = rule.action, let name = form.certificate,
            !self.certificates.names.contains(name)
        else { return nil }
        let known = self.certificates.names.joined(separator: ", ")
        return BadField(
            field: "action.certificate",
            problem: known.isEmpty ? "names a certificate, and none were given" : "must be one of \(known)"
        )
    }

    /// Open connections take note of another policy.
    func policyHasChanged() {
        for session in self.sessions { session?.watchIdleness() }
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
        self.changeClock { clock, real in
            clock.resume(at: real)
            if self.initialScale != 1 { clock.run(at: self.initialScale, from: real) }
        }
        self.overflow = self.initialOverflow
        self.windows = self.initialWindows
        self.policyHasChanged()
        self.listens = true
        if self.run != nil { self.changeClock { clock, real in clock.resume(at: real) } }
        self.startOver()
    }

    private func announce(_ changes: [(place: Int, limit: UInt32)]) {
        for change in changes { self.sessions[change.place]?.announce(change.limit) }
    }

    /// - Returns: how many connections there were.
    func goAwayAll(code: UInt32, debugData: String, lastStream: FaultRule.LastStream) -> Int {
        self.goAwayAll(Farewell(code: code, debugData: Array(debugData.utf8), lastStream: lastStream))
    }

    /// - Returns: how many connections there were.
    func goAwayAll(_ farewell: Farewell) -> Int {
        let open = self.sessions.compactMap { $0 }
        for session in open {
            self.sayGoAway(session, farewell, lastStream: farewell.lastStream.number(for: session.newestStream))
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
        self.channelServer?.close()
        self.alarm?.cancel()
        self.scenarioAlarm?.cancel()
        self.endWaiting()
        for session in self.arriving.values { session.end(withReset: true, ending: "stopped") }
        for line in self.mute.values { line.end() }
        self.mute.removeAll()
        self.held.removeAll()
        _ = self.dropAll()
        self.loop.stop()
    }
}
