import Push
import Testing
import Worker

@Suite struct ReadinessTests {
    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    /// One that consumes, a second ago.
    private static func vitals(_ change: (inout WorkerVitals) -> Void = { _ in }) -> WorkerVitals {
        var vitals = WorkerVitals(name: "host:1", time: Self.time(999))
        vitals.isConsumeConnected = true
        vitals.isPublishConnected = true
        vitals.isRedisUp = true
        vitals.arePausesKnown = true
        vitals.pools = [WorkerVitals.Pool(name: "pool", allowed: 2, held: 2, streams: 10, streamLimit: 1000)]
        vitals.wantedQueues = 2
        vitals.consumedQueues = 2
        change(&vitals)
        return vitals
    }

    private struct Row: Sendable {
        let name: String
        let isReady: Bool
        /// A part of what it says.
        let says: String
        let change: @Sendable (inout WorkerVitals) -> Void

        init(
            _ name: String,
            _ isReady: Bool,
            _ says: String,
            _ change: @escaping @Sendable (inout WorkerVitals) -> Void
        ) {
            self.name = name
            self.isReady = isReady
            self.says = says
            self.change = change
        }
    }

    private static let rows: [Row] = [
        Row("it works", true, "consumes 2 of 2") { _ in },
        Row("nothing is under way, for a long time", true, "consumes") {
            $0.pools[0].streams = 0
            $0.progressAt = Self.time(1)
        },
        Row("all apps are paused", true, "paused") {
            $0.wantedQueues = 0
            $0.consumedQueues = 0
        },
        Row("others have all connections", true, "waits for a lease") { $0.pools[0].allowed = 0 },
        Row("Redis is away, the lease still holds", true, "consumes") { $0.isRedisUp = false },
        Row("Redis is away, and the lease has ended", false, "Redis does not answer") {
            $0.isRedisUp = false
            $0.pools[0].allowed = 0
        },
        Row("Redis refuses the renewal", false, "no lease: NOPERM") {
            $0.pools[0].allowed = 0
            $0.pools[0].problem = "NOPERM"
        },
        Row("pauses are not known", false, "paused") { $0.arePausesKnown = false },
        Row("RabbitMQ is away", false, "RabbitMQ is not connected (consume)") { $0.isConsumeConnected = false },
        Row("RabbitMQ takes no connection for publishing", false, "(publish)") { $0.isPublishConnected = false },
        Row("its queues are not there", false, "none of 2 queues") { $0.consumedQueues = 0 },
        Row("no request has an end", false, "10 requests") { $0.progressAt = Self.time(900) },
        Row("an answer came within two timeouts", true, "consumes") { $0.progressAt = Self.time(961) },
        Row("it drains", false, "drains") { $0.phase = .draining },
        Row("it leaves", false, "leaves") { $0.phase = .closing },
        Row("its loop hangs", false, "not turned for 60 s") { $0.time = Self.time(940) },
    ]

    @Test func `A worker is ready if it consumes or rightly waits, and says why not otherwise`() {
        for row in Self.rows {
            let readiness = Readiness.judge(Self.vitals(row.change), at: Self.time(1000))
            #expect(readiness.isReady == row.isReady, "\(row.name)")
            #expect(readiness.text.contains(row.says), "\(row.name): \(readiness.text)")
        }
    }

    @Test func `A process is ready if each of its loops is, and names the one that is not`() {
        let now = Self.time(1000)
        let good = Self.vitals()
        let bad = Self.vitals {
            $0.name = "host:1.2"
            $0.isConsumeConnected = false
        }
        #expect(!Readiness.judge(all: [], at: now).isReady)
        #expect(Readiness.judge(all: [good], at: now) == Readiness.judge(good, at: now))
        #expect(Readiness.judge(all: [good, good], at: now).isReady)
        let readiness = Readiness.judge(all: [good, bad], at: now)
        #expect(!readiness.isReady && readiness.text.hasPrefix("host:1.2: "))
    }

    @Test func `A loop that closes is not taken for one that hangs`() {
        let old = Self.vitals { $0.time = Self.time(1) }
        let closing = Self.vitals {
            $0.time = Self.time(1)
            $0.phase = .closing
        }
        #expect(!old.isTurning(at: Self.time(1000)))
        #expect(closing.isTurning(at: Self.time(1000)))
        #expect(Self.vitals().isTurning(at: Self.time(1009)))
        #expect(!Self.vitals().isTurning(at: Self.time(1010)))
    }
}
