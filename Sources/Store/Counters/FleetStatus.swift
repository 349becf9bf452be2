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

    /// The counters of one app and lane since they were last reset.
    package struct Lane: Hashable, Sendable {
        package let app: String
        package let lane: String
        /// Every field, by its name in Redis.
        package let fields: [String: Int64]

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
            leases: leases.sorted { $0.worker < $1.worker }
        )
    }
}
