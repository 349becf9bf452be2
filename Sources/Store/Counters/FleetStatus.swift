package import Push

/// Everything that Redis knows about the fleet at one moment.
package struct FleetStatus: Hashable, Sendable {
    /// When it was read, by the clock of Redis.
    package var time: UnixTime
    /// By app and lane, in this order.
    package var lanes: [Lane]
    package var workers: [WorkerBeat]
    package var pools: [Pool]
    /// Apps that are paused for the whole fleet.
    package var pauses: [AppPause] = []
    /// The version of the counters' schema that workers write; nil if none has written any yet.
    package var schema: Int?

    /// The version that this program writes and reads: deploy/contract/counters.md.
    package static let currentSchema = 1

    /// The counters of one app and lane since they were last reset.
    package struct Lane: Hashable, Sendable {
        package let app: String
        package let lane: String
        /// Every field, by its name in Redis.
        package let fields: [String: Int64]
        /// When the newest message that any worker has received from its queue was published; nil if none said so.
        package var receivedUntil: UnixTime?

        package init(app: String, lane: String, fields: [String: Int64]) {
            self.app = app
            self.lane = lane
            self.fields = fields
        }

        package subscript(_ field: CounterField) -> Int64 { self.fields[field.rawValue] ?? 0 }

        /// Counts by reason.
        package subscript(_ field: ReasonField) -> [String: Int64] {
            let prefix = field.rawValue + "."
            var reasons: [String: Int64] = [:]
            for (name, count) in self.fields where name.hasPrefix(prefix) {
                reasons[String(name.dropFirst(prefix.count))] = count
            }
            return reasons
        }

        package subscript(_ field: HistogramField) -> Histogram { Histogram(field, fields: self.fields) }
    }

    /// A connection budget.
    package struct Pool: Hashable, Sendable {
        package let name: String
        /// How long nothing grows yet.
        package let quarantine: Duration
        package let leases: [Lease]
        /// What has happened to this budget since Redis first knew it.
        package var counts = Counts()

        /// Connections granted to living workers.
        package var held: Int { self.leases.reduce(0) { $0 + $1.grant } }
        /// Connections that living workers could use.
        package var wanted: Int { self.leases.reduce(0) { $0 + $1.want } }
        /// The budget in force: the smallest that a living worker carries.
        package var budget: Int? { self.leases.map(\.budget).min() }

        package struct Lease: Hashable, Sendable {
            package let worker: String
            package let grant: Int
            package let open: Int
            package let want: Int
            package let budget: Int
            package let expires: UnixTime
        }

        /// Grow only, and begin at zero again when Redis loses its data.
        package struct Counts: Hashable, Sendable {
            /// Connections given out of the budget. What workers only claim again, after a loss of data, is not counted.
            package var granted = 0
            /// How often a worker that wanted connections had none, and later got one.
            package var waited = 0
            /// How long those waited together.
            package var waitTime: Duration = .zero
            /// Connections of leases that ended without being given back: of workers that died, hung or were cut off.
            package var reclaimed = 0
            /// Connections that a worker had open although its lease had ended in Redis, or beyond its grant; each
            /// counts once. Above zero after a process or machine was paused for longer than its lease, or was cloned.
            package var overage = 0

            package init() {}
        }
    }

    /// The counters of all apps and lanes together.
    package var totals: [String: Int64] {
        self.lanes.reduce(into: [:]) { totals, lane in totals.merge(lane.fields, uniquingKeysWith: +) }
    }
}

extension FleetStatus.Pool {
    /// Reads the hash of a pool; nil when there is none. Entries of workers that left, and leases that have ended, are
    /// left out.
    init?(name: String, _ fields: [String: RedisReply], now: UnixTime) {
        guard let meta = fields["meta"]?.text?.split(separator: " "), meta.count == 3 else { return nil }
        let quarantine = Int64(meta[2]).map { max(0, $0 - now.milliseconds) } ?? 0
        let leases = fields.compactMap { worker, value -> Lease? in
            let numbers = value.text?.split(separator: " ").compactMap { Int64($0) } ?? []
            guard worker != "meta", numbers.count == 9, numbers[0] > 0 || numbers[2] > 0 else { return nil }
            guard numbers[4] > now.milliseconds else { return nil }
            return Lease(
                worker: worker,
                grant: Int(numbers[0]),
                open: Int(numbers[1]),
                want: Int(numbers[2]),
                budget: Int(numbers[8]),
                expires: UnixTime(milliseconds: numbers[4])
            )
        }
        self.init(
            name: name,
            quarantine: .milliseconds(quarantine),
            leases: leases.sorted { $0.worker < $1.worker },
            counts: fields["counts"]?.text.flatMap(Counts.init) ?? Counts()
        )
    }
}

extension FleetStatus.Pool.Counts {
    /// Reads the field `counts`; nil when it is none of the script's.
    init?(_ text: String) {
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 5 else { return nil }
        self.granted = numbers[0]
        self.waited = numbers[1]
        self.waitTime = .milliseconds(numbers[2])
        self.reclaimed = numbers[3]
        self.overage = numbers[4]
    }
}
