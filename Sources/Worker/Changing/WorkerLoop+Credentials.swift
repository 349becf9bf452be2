internal import Loop
internal import Push
internal import Store

/// How a worker goes over to another credential without losing or doubling a message.
///
/// With the same budget the sender stays and replaces its connections. With another one a second sender connects under
/// a lease of its own while the first one goes on; when the second can send, it takes the apps over.
extension WorkerLoop {
    /// Everything that holds, or is about to hold, connections.
    var allSenders: [Sender] { self.senders + self.incoming + self.leaving }

    /// Uses a credential in place of the one with its name.
    func use(_ loaded: LoadedCredential) {
        let name = loaded.settings.name
        guard !self.shutdown.isDraining, let sender = self.senders.first(where: { $0.credential.name == name }) else {
            return
        }
        // A newer one goes before one that could not send yet.
        for stale in self.incoming where stale.credential.name == name { self.leave(stale, to: sender) }
        self.incoming.removeAll { $0.credential.name == name }
        if sender.credential.pool == loaded.settings.pool {
            return sender.use(loaded) { [unowned self, unowned sender] in self.credentialChanged(of: sender) }
        }
        guard !self.allSenders.contains(where: { $0.credential.pool == loaded.settings.pool }) else {
            return self.refuseCredential(
                name,
                "its budget \(loaded.settings.pool) is in use by this worker already; try again when that has ended, "
                    + "or restart the worker"
            )
        }
        self.tell.swapping(name, to: loaded.settings.pool)
        let next = self.makeSender(loaded)
        self.incoming.append(next)
        next.start()
    }

    /// A new credential cannot be used, and the old one goes on.
    func refuseCredential(_ name: String, _ problem: String) {
        self.tell.credentialRefused(name, problem)
        guard let sender = self.senders.first(where: { $0.credential.name == name }) else { return }
        self.count(.credentialsRefused, for: sender)
    }

    /// Now and then: what of the swaps under way has become due.
    func finishSwaps() {
        for next in self.incoming where next.canSend {
            guard let index = self.senders.firstIndex(where: { $0.credential.name == next.credential.name }) else {
                continue
            }
            let old = self.senders[index]
            self.senders[index] = next
            for line in self.lines { line.use(next, insteadOf: old) }
            self.incoming.removeAll { $0 === next }
            self.leave(old, to: next)
            self.credentialChanged(of: next)
        }
        for sender in self.leaving where sender.isIdle {
            self.leaving.removeAll { $0 === sender }
            sender.release { [tell] in tell.credentialLeft(sender.credential.name, pool: sender.credential.pool) }
        }
    }

    private func leave(_ old: Sender, to next: Sender) {
        self.leaving.append(old)
        old.leave(to: next)
    }

    private func credentialChanged(of sender: Sender) {
        self.tell.swapped(sender.credential.name, pool: sender.credential.pool)
        self.count(.credentialSwaps, for: sender)
        for line in self.lines where line.senders.contains(where: { $0 === sender }) {
            line.gate.credentialChanged(at: self.loop.now)
        }
        self.updatePrefetches()
    }

    /// Once for each app that is sent with it.
    private func count(_ field: CounterField, for sender: Sender) {
        for line in self.lines where line.lane == .now && line.senders.contains(where: { $0 === sender }) {
            self.counters.add(field, line.counters)
        }
    }
}
