internal import HTTP2
internal import Loop
internal import Push
internal import Wire

/// The simulator on its loop: accepts connections, asks the push service what to do, and does it when its time comes.
final class Server {
    /// What waits for its time.
    enum Due {
        case deed(Pending)
        case call(() -> Void)
    }

    let loop: EventLoop
    /// Those of the start, to which a reset goes back.
    let settings: Simulator.Settings
    /// Where pushes come in; the usual one first.
    let doors: [Door]
    var service: PushService
    private(set) var clock = VirtualClock()
    let headers = AnswerHeaders()
    /// For connections that are about to be made.
    var overflow: StreamOverflow
    var windows: FaultRule.SettingsForm
    let certificates: ServerCertificates
    private var listeners: [Listener] = []
    /// Connections that have come in and whose TLS handshake has not begun.
    var held: [ObjectIdentifier: Arrival] = [:]
    /// Connections on which nothing will ever be said.
    var mute: [ObjectIdentifier: MuteLine] = [:]
    /// The channel management API, if it is wanted.
    private(set) var channelServer: ChannelServer?
    /// Connections whose TLS handshake is not done.
    var arriving: [ObjectIdentifier: Session] = [:]
    /// Open connections by their place in the service.
    var sessions: [Session?] = []
    /// The scenario that is played, and when its next step is due.
    var run: ScenarioRun?
    var scenarioAlarm: Deadline?
    /// Whether a step waits for a count.
    var isScenarioCounting = false
    private(set) var openSessions = 0
    var queue = TimedQueue<Due>()
    private var alarm: Deadline?
    /// Those who wait for pushes.
    var waiters: [PushWaiter] = []

    /// - Throws: `ListenError`, `TLSContextError` or `ProviderKeyError`.
    init(settings: Simulator.Settings, loop: EventLoop) throws {
        self.loop = loop
        self.settings = settings
        self.overflow = settings.overflow
        self.windows = settings.windows
        var service = PushService(settings: settings.service)
        for key in settings.keys { try service.addKey(key) }
        self.service = service
        self.certificates = try ServerCertificates(
            usual: CertificateFiles(certificate: settings.certificate, privateKey: settings.privateKey),
            others: settings.certificates,
            clients: settings.clientAuthorities.map { .signed(byAuthoritiesIn: $0) } ?? .any
        )
        let doorman = Doorman()
        for door in settings.doors {
            let listener = try door.listen(on: settings.host, loop: loop) { doorman.server?.accept($0, through: $1) }
            self.listeners.append(listener)
        }
        self.doors = zip(settings.doors, self.listeners).map { Door(kind: $0.kind, port: $1.port) }
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

    // MARK: Connections

    /// Whether new connections are taken; else the system refuses them.
    var listens: Bool {
        get { !self.listeners.isEmpty }
        set {
            guard newValue != self.listens else { return }
            for listener in self.listeners { listener.close() }
            self.listeners = []
            guard newValue else { return }
            self.listeners = self.doors.compactMap { door in
                try? door.listen(on: self.settings.host, loop: self.loop) { [weak self] in
                    self?.accept($0, through: $1)
                }
            }
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

    // MARK: Ending

    /// Ends everything, the loop as well.
    func stop() {
        self.listens = false
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
