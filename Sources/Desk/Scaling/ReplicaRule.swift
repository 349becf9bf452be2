/// How many workers a fleet should have.
///
/// Without a backlog that is too old, the rate decides by what a worker is taken to manage at least; with one, by what
/// workers are seen to manage. Never more than there are connections for: a worker without one only waits.
package struct ReplicaRule: Hashable, Sendable {
    /// What the rule looks at.
    package struct Load: Hashable, Sendable {
        /// Workers alive.
        package var workers: Int
        /// Messages ready in work queues, of apps that are not paused.
        package var backlog: Int
        /// How long the oldest of them has waited, as far as that is known; seconds.
        package var oldestAge: Double
        /// Messages received by all workers together; per second.
        package var rate: Double
        /// Connections of all budgets together.
        package var connections: Int
        /// False while more workers could not send more: nothing holds a lease, or all that waits is paused.
        package var canSend: Bool

        package init(
            workers: Int,
            backlog: Int,
            oldestAge: Double,
            rate: Double,
            connections: Int,
            canSend: Bool = true
        ) {
            self.workers = workers
            self.backlog = backlog
            self.oldestAge = oldestAge
            self.rate = rate
            self.connections = connections
            self.canSend = canSend
        }
    }

    /// Seconds: what waits longer is late, and a backlog shall be gone within this time.
    package var targetAge: Double
    /// Messages per second that one worker is taken to manage while nothing shows more; a cautious number.
    package var ratePerWorker: Double

    package init(targetAge: Double = 30, ratePerWorker: Double = 500) {
        self.targetAge = max(1, targetAge)
        self.ratePerWorker = max(1, ratePerWorker)
    }

    /// Workers that connections allow; at least 1.
    package func useful(_ load: Load) -> Int { max(1, load.connections) }

    /// From 1 to `useful`. One step is at most twice as many, or a quarter fewer, so that a wrong number mends itself.
    package func desired(_ load: Load) -> Int {
        let useful = self.useful(load)
        let workers = max(0, load.workers)
        func bounded(_ count: Int) -> Int { min(max(1, count), useful) }
        guard load.canSend else { return bounded(workers) }
        let isLate = load.backlog > 0 && load.oldestAge > self.targetAge
        let rate = max(0, load.rate)
        let needed = rate + Double(max(0, load.backlog)) / self.targetAge
        let seen = workers > 0 ? rate / Double(workers) : 0
        // Workers with a late backlog do what they can.
        let capacity = isLate && seen >= 1 ? seen : self.ratePerWorker
        let count = Int(min((needed / capacity).rounded(.up), 1_000_000))
        let most = 2 * max(1, workers)
        let fewest = isLate ? workers : workers - max(1, workers / 4)
        return bounded(min(max(count, fewest), most))
    }
}
