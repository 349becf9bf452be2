package import APNs
package import Push
package import Store

/// What one worker's loop says of itself about once a second, for probes and metrics that run on other threads.
package struct WorkerVitals: Sendable, Equatable {
    package enum Phase: String, Sendable, Equatable {
        case running, draining, closing
    }

    /// One credential's budget, as this worker has it.
    package struct Pool: Sendable, Equatable {
        package var name: String
        /// Connections that its lease allows.
        package var allowed: Int
        /// Connections open, being opened or being closed.
        package var held: Int
        /// Requests under way.
        package var streams: Int
        /// Requests that the open connections take together.
        package var streamLimit: Int
        /// When the lease ends unless it is renewed; nil without one.
        package var leaseEnds: MonotonicTime?
        /// Why the last renewal had no answer; nil if it had one.
        package var problem: String?
        /// Renewals of the lease that Redis answered.
        package var renewals = 0
        /// Renewals without an answer, or refused.
        package var failedRenewals = 0
        /// Connections that came and went.
        package var tally = ConnectionTally()

        package init(name: String, allowed: Int = 0, held: Int = 0, streams: Int = 0, streamLimit: Int = 0) {
            self.name = name
            self.allowed = allowed
            self.held = held
            self.streams = streams
            self.streamLimit = streamLimit
        }
    }

    /// Host, process and loop.
    package var name: String
    /// When the loop said this.
    package var time: MonotonicTime
    package var phase = Phase.running
    package var isConsumeConnected = false
    package var isPublishConnected = false
    /// Whether RabbitMQ holds up publishing by an alarm.
    package var isBlocked = false
    package var isRedisUp = false
    /// Whether the pauses of all apps are known; nothing is taken before.
    package var arePausesKnown = false
    package var pools: [Pool] = []
    /// What it has counted since it started, all apps together; up to one counter interval old.
    package var lanes: [FleetStatus.Lane] = []
    /// Queues that it should consume: their app is not paused, and there is a connection allowed to send with.
    package var wantedQueues = 0
    /// Queues that it consumes.
    package var consumedQueues = 0
    /// Messages received and not settled.
    package var inFlight = 0
    /// Messages it may hold unacknowledged.
    package var prefetch = 0
    /// Copies that wait for the broker's confirm.
    package var outbox = 0
    /// When Apple answered last, or a request failed, or none was under way.
    package var progressAt: MonotonicTime
    /// How long one request may wait for its answer.
    package var requestTimeout: Duration

    package init(name: String, time: MonotonicTime, requestTimeout: Duration = .seconds(20)) {
        self.name = name
        self.time = time
        self.progressAt = time
        self.requestTimeout = requestTimeout
    }

    /// Requests at Apple.
    package var streams: Int { self.pools.reduce(0) { $0 + $1.streams } }
    /// Connections that its leases allow.
    package var allowed: Int { self.pools.reduce(0) { $0 + $1.allowed } }

    /// A loop that has not turned for so long hangs: it turns once a second at the least.
    package static let longestSilence = Duration.seconds(10)

    /// Whether the loop's thread has turned recently. One that closes is limited by whoever asked for it.
    package func isTurning(at now: MonotonicTime) -> Bool {
        self.phase == .closing || now - self.time <= Self.longestSilence
    }
}
