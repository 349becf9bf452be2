internal import Broker
internal import Loop
internal import Push
internal import Store

/// How apps and credentials come, change and go while others run.
///
/// An app that changes gets new lines in place of those it has: what an old line has received ends under the old
/// settings, or goes back and is received anew. So no message ever meets a mixture of both.
extension WorkerLoop {
    // MARK: Beginning

    /// - Parameter credentials: those that the change adds.
    func apply(_ change: FleetChange, _ credentials: [LoadedCredential]) {
        guard !self.shutdown.isDraining else { return }
        self.settings = change.settings
        for action in change.actions {
            switch action {
            case .removeApp(let id):
                self.unfinished.forget(id)
                self.retire(id)
                self.tell.appRemoved(id)
            case .addApp(let id), .changeApp(let id):
                if let app = change.settings.apps.first(where: { $0.id == id }) { self.unfinished.expect(app) }
            case .addCredential(let name):
                self.unfinished.credentials += credentials.filter { $0.settings.name == name }
            case .removeCredential(let name):
                self.unfinished.credentials.removeAll { $0.settings.name == name }
                self.unfinished.departing.insert(name)
            case .swapCredential:
                break
            }
        }
        self.finishChanges()
    }

    /// At once, and now and then: what has become possible.
    func finishChanges() {
        guard !self.shutdown.isDraining, !self.unfinished.isEmpty else { return }
        for line in self.unfinished.retired where line.isDone { line.consumer.cancel() }
        self.unfinished.retired.removeAll { $0.consumer.state == .stopped }
        self.connectNewcomers()
        for app in self.unfinished.apps { self.takeUp(app) }
        self.partFromCredentials()
        self.updateLadder()
        self.updatePrefetches()
    }

    // MARK: Apps

    /// Lets an app run with these settings, if what it needs is there.
    private func takeUp(_ app: AppSettings) {
        let old = self.lines.first { $0.app?.id == app.id }
        let isDeparting = old?.sender.map { self.unfinished.departing.contains($0.credential.name) } ?? false
        // It was changed and changed back.
        if old?.app == app, !isDeparting { return self.unfinished.forget(app.id) }
        let missing = self.unfinished.missing(for: app, self.ladder) { level in
            QueueWatch(level.queueName, self.consuming) { [unowned self] in self.finishChangesSoon() }
        }
        guard missing.isEmpty else {
            guard self.unfinished.isToBeTold(app.id, missing) else { return }
            return self.tell.appWaits(app.id, for: missing.map(\.queueName), isNew: old == nil)
        }
        guard let sender = self.arrivedSender(of: app) else {
            // Its credential may wait for the budget that the old one has under another name.
            if isDeparting { self.retire(app.id) }
            return
        }
        let gate = old?.gate ?? self.makeGate(app)
        if let before = old?.app { gate.appChanged(from: before, to: app, at: self.loop.now) }
        self.retire(app.id)
        if let before = old?.app, before.rate != app.rate { gate.rate = self.makeRate(app) }
        self.addLines(of: app, sender, gate: gate)
        // It may be paused.
        if old == nil { self.askForPauses() }
        self.unfinished.forget(app.id)
        self.updateLadder()
        if old == nil { self.tell.appAdded(app.id) } else { self.tell.appChanged(app.id) }
    }

    /// What sends for the app, when all of it has begun to connect.
    private func arrivedSender(of app: AppSettings) -> Sender? {
        let arrived = self.senders.filter { !self.unfinished.departing.contains($0.credential.name) }
        let needed = self.settings.credentials.filter {
            $0.name == app.credential || $0.broadcastsOf == app.credential
        }
        guard needed.allSatisfy({ need in arrived.contains { $0.credential.name == need.name } }) else { return nil }
        return arrived.first { $0.credential.name == app.credential }
    }

    /// Takes nothing more for the app. What waits goes back, what is at Apple has its answer to come.
    private func retire(_ app: String) {
        let leaving = self.lines.filter { $0.app?.id == app }
        guard !leaving.isEmpty else { return }
        self.lines.removeAll { $0.app?.id == app }
        self.unfinished.retired += leaving
        for line in leaving { line.retire() }
        for sender in leaving[0].senders { self.giveBackWaiting(of: sender, app: app) }
    }

    /// The levels of the apps that run, and of messages that are still under way.
    private func updateLadder() {
        let schedules = (self.lines + self.unfinished.retired).compactMap { $0.app?.retry }
        self.ladder = DelayLadder(schedules: schedules)
    }

    /// News come from within what the broker's client does.
    private func finishChangesSoon() {
        self.loop.after(.zero) { [unowned self] in self.finishChanges() }
    }

    // MARK: Credentials

    /// Connects with new credentials. One budget has one lease, so a credential that was renamed waits for itself.
    private func connectNewcomers() {
        for loaded in self.unfinished.credentials {
            let (name, pool) = (loaded.settings.name, loaded.settings.pool)
            let isTaken = self.senders.contains { $0.credential.name == name }
            guard !isTaken, !self.allSenders.contains(where: { $0.credential.pool == pool }) else { continue }
            self.unfinished.credentials.removeAll { $0.settings.name == name }
            let sender = self.makeSender(loaded)
            self.senders.append(sender)
            sender.start()
            self.tell.credentialAdded(name, pool: pool)
        }
    }

    /// Ends what no app uses any more.
    private func partFromCredentials() {
        for name in self.unfinished.departing.sorted() {
            let parting = (self.senders + self.incoming).filter { $0.credential.name == name }
            let isUsed = self.lines.contains { line in line.senders.contains { own in parting.contains { $0 === own } }
            }
            guard !isUsed else { continue }
            self.senders.removeAll { $0.credential.name == name }
            self.incoming.removeAll { $0.credential.name == name }
            self.unfinished.departing.remove(name)
            for sender in parting { sender.leave() }
            self.leaving += parting
        }
    }
}
