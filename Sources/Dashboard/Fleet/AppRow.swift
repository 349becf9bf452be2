internal import Broker
internal import Desk
internal import Push
internal import Store

/// One app in the list of apps. What is not known is nil, and left out.
struct AppRow: Sendable, Equatable, Encodable {
    let app: String
    var origin: ConfiguredFleet.App.Origin?
    var credential: String?
    var environment: String?
    var paused: PausedAppReport?
    /// In its work queues.
    var waiting: Int?
    /// How long the oldest of these has waited, as far as that is known.
    var oldestMs: Int64?
    /// Notifications at Apple.
    var inFlight = 0
    /// In the last whole minute.
    var deliveredMinute: Int64?
    /// In the last 60 whole minutes.
    var retriedHour: Int64?
    var deadLetteredHour: Int64?
    /// Delivered in each of the last 30 minutes.
    var series: [Int64?]?
    /// For sorting while minutes are not known: since Redis first knew the app.
    var delivered: Int64 = 0
    var retried: Int64 = 0
    var deadLettered: Int64 = 0

    private enum CodingKeys: CodingKey {
        case app, origin, credential, environment, paused, waiting, oldestMs, inFlight, deliveredMinute, retriedHour,
            deadLetteredHour, series
    }

    init(_ app: String) { self.app = app }

    /// All apps that the configuration, the counters or a pause name, by name.
    static func rows(
        _ configured: ConfiguredFleet,
        _ status: FleetStatus?,
        _ queues: [QueueStatus]?,
        ages: [String: Int64],
        minutes: AppMinutes = AppMinutes()
    ) -> [AppRow] {
        var rows: [String: AppRow] = [:]
        let environments = Dictionary(
            configured.credentials.map { ($0.name, $0.environment) },
            uniquingKeysWith: { first, _ in first }
        )
        for app in configured.apps {
            var row = AppRow(app.id)
            row.origin = app.origin
            row.credential = app.credential
            row.environment = environments[app.credential]
            rows[app.id] = row
        }
        for lane in status?.lanes ?? [] {
            rows[lane.app, default: AppRow(lane.app)].add(lane)
        }
        for pause in status?.pauses ?? [] {
            var row = rows[pause.app] ?? AppRow(pause.app)
            // A pause by hand comes after a fault in the list; the fault is what needs an eye.
            if row.paused == nil || pause.kind == .fault { row.paused = PausedAppReport(pause) }
            rows[pause.app] = row
        }
        for worker in status?.workers ?? [] {
            for (name, count) in worker.inFlight {
                guard let dot = name.lastIndex(of: ".") else { continue }
                rows[String(name[..<dot])]?.inFlight += count
            }
        }
        for queue in queues ?? [] {
            guard case .work(let app, _) = queue.role, let depth = queue.depth else { continue }
            let others = rows[app.name]?.waiting ?? 0
            rows[app.name]?.waiting = others + depth.messages
            guard let age = ages[queue.name] else { continue }
            let oldest = max(age, rows[app.name]?.oldestMs ?? 0)
            rows[app.name]?.oldestMs = oldest
        }
        return rows.values.sorted { $0.app < $1.app }.map { row in
            var row = row
            row.deliveredMinute = minutes.minute(row.app)?.delivered
            let hour = minutes.hour(row.app)
            row.retriedHour = hour?.retried
            row.deadLetteredHour = hour?.deadLettered
            row.series = minutes.delivered(row.app)
            return row
        }
    }

    /// What lists are sorted by: minutes if they are known, then what the app counted in all.
    var deliveredRank: (Int64, Int64) { (self.deliveredMinute ?? 0, self.delivered) }
    var retriedRank: (Int64, Int64) { (self.retriedHour ?? 0, self.retried) }
    var deadRank: (Int64, Int64) { (self.deadLetteredHour ?? 0, self.deadLettered) }

    private mutating func add(_ lane: FleetStatus.Lane) {
        self.delivered += lane[.delivered]
        self.retried += lane[.retried] as Int64
        self.deadLettered += lane[.deadLettered] as Int64
    }
}
