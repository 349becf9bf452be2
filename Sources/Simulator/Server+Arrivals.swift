internal import HTTP2
internal import Loop
internal import Push
internal import Wire

/// Connections that come in.
extension Server {
    func accept(_ arrival: Arrival, through door: Door.Kind) {
        let now = self.moment
        let open = self.openSessions + self.arriving.count + self.held.count + self.mute.count
        switch self.service.arrive(from: arrival.source, open: open, at: now) {
        case .refused: arrival.refuse()
        case .admitted(nil): self.begin(arrival, door, fault: nil, handshake: FaultRule.HandshakeForm())
        case .admitted(let fault?): self.accept(arrival, door, with: fault)
        }
    }

    private func accept(_ arrival: Arrival, _ door: Door.Kind, with fault: FaultRules.Fault) {
        switch fault.action {
        case .refuse: self.hold(arrival, for: fault.delay) { $0.refuse() }
        case .silence:
            let line = MuteLine { [weak self] in self?.mute[$0] = nil }
            line.begin(arrival)
            self.mute[ObjectIdentifier(line)] = line
        case .handshake(let form):
            self.hold(arrival, for: fault.delay) { [weak self] in self?.begin($0, door, fault: nil, handshake: form) }
        default: self.begin(arrival, door, fault: fault, handshake: FaultRule.HandshakeForm())
        }
    }

    private func hold(_ arrival: Arrival, for delay: Duration, then body: @escaping (Arrival) -> Void) {
        guard delay > .zero else { return body(arrival) }
        self.held[ObjectIdentifier(arrival)] = arrival
        self.after(delay) { [weak self] in
            guard let arrival = self?.held.removeValue(forKey: ObjectIdentifier(arrival)) else { return }
            body(arrival)
        }
    }

    private func begin(
        _ arrival: Arrival,
        _ door: Door.Kind,
        fault: FaultRules.Fault?,
        handshake: FaultRule.HandshakeForm
    ) {
        let tls = door == .cleartext ? nil : self.certificates.context(for: handshake)
        guard tls != nil || door == .cleartext else { return arrival.refuse() }
        var windows = self.windows
        if case .settings(let form)? = fault?.action { windows = windows.changed(by: form) }
        if case .goAway(_, _, _, let form)? = fault?.action, form.isBeforeSettings { windows.isSent = false }
        var settings = HTTP2Server.Settings()
        settings.maxConcurrentStreams = Int(windows.streams ?? self.service.streams.initial)
        settings.overflow =
            switch self.overflow {
            case .refuse: .refuse
            case .goAway: .goAway
            case .accept: .accept
            }
        settings.initialWindow = Int(windows.window ?? 65_535)
        settings.connectionWindow = Int(windows.connectionWindow ?? 65_535)
        settings.updatesWindows = windows.updatesWindows ?? true
        settings.sendsSettings = windows.isSent
        let session = Session(server: self, source: arrival.source, fault: fault)
        self.arriving[ObjectIdentifier(session)] = session
        session.begin({ arrival.begin(tls: tls, delegate: $0) }, settings: settings)
    }
}
