internal import Loop

/// How much each queue may give.
extension WorkerLoop {
    /// Divides anew what the worker may hold and what it may have in flight.
    func updatePrefetches() {
        let mayTake = !self.shutdown.isDraining && self.arePausesKnown
        for line in self.lines where line.sender == nil {
            line.updatePrefetch(share: mayTake ? self.settings.worker.prefetchPerConnection : nil)
        }
        let linesBySender = Dictionary(grouping: self.lines) { $0.sender.map(ObjectIdentifier.init) }
        let broadcasts = Dictionary(grouping: self.lines) { $0.broadcasts.map(ObjectIdentifier.init) }
        for sender in self.allSenders {
            let lines = linesBySender[ObjectIdentifier(sender)] ?? []
            sender.share(among: (lines + (broadcasts[ObjectIdentifier(sender)] ?? [])).map(\.turn))
            guard mayTake, sender.connectionsAllowed > 0 else {
                for line in lines { line.updatePrefetch(share: nil) }
                continue
            }
            let capacity = sender.connectionsAllowed * self.settings.worker.prefetchPerConnection
            let claims = lines.map { line in
                PrefetchShares.Claim(weight: line.turn.weight, demand: line.prefetchWish(at: self.loop.now))
            }
            let shares = PrefetchShares.divide(capacity: capacity, among: claims)
            for (line, share) in zip(lines, shares) { line.updatePrefetch(share: share) }
        }
    }

    /// A queue gives all that it may: soon, and not for each message, it is seen whether it may give more.
    func needsPrefetches() {
        guard !self.arePrefetchesDue else { return }
        self.arePrefetchesDue = true
        self.loop.after(.milliseconds(250)) { [unowned self] in
            self.arePrefetchesDue = false
            self.updatePrefetches()
        }
    }
}
