internal import Broker
internal import Desk
internal import Push
internal import Store

/// All about one app: `GET /api/app`.
struct AppDetail: Encodable {
    struct LaneReport: Encodable {
        let app: String
        let lane: String
        /// By their names in Redis.
        let counters: [String: Int64]
        let inFlight: Int
        let retriedByReason: [String: Int64]
        let deadLetteredByReason: [String: Int64]
        let apnsLatency: LatencyReport
        let endToEnd: LatencyReport
        let dwell: LatencyReport
        let waiting: Int?
        let oldestMs: Int64?
        let consumers: Int?
    }

    private struct Rest: Encodable {
        let timeMs: Int64
        let lanes: [LaneReport]
        let settings: [String: String]
        let reasons: [ReasonCount]
        let minutes: SeriesReport?
        let deliveredMinute: Int64?
        let retriedHour: Int64?
        let deadLetteredHour: Int64?
        /// Delivered in each of the last 30 minutes.
        let series: [Int64?]?
    }

    private let row: AppRow
    private let rest: Rest

    /// - Parameter minutes: the app's last 60 whole minutes; nil if Redis did not say.
    init(_ row: AppRow, _ picture: FleetPicture, _ status: FleetStatus, minutes: FleetSeries? = nil) {
        let counted = status.lanes.filter { $0.app == row.app }
        let names = Lane.allCases.map(\.rawValue)
        let snapshot = FleetSnapshot(queues: picture.queues, fleet: status)
        let lanes = (names + counted.map(\.lane).filter { !names.contains($0) }).map { name in
            let lane = counted.first { $0.lane == name } ?? FleetStatus.Lane(app: row.app, lane: name, fields: [:])
            let queue = picture.queues?.first { queue in
                if case .work(let app, let lane) = queue.role {
                    app.name == row.app && lane.rawValue == name
                } else {
                    false
                }
            }
            let depth = queue?.depth
            return LaneReport(
                app: row.app,
                lane: name,
                counters: Dictionary(uniqueKeysWithValues: CounterField.allCases.map { ($0.rawValue, lane[$0]) }),
                inFlight: snapshot.inFlight(app: row.app, lane: name),
                retriedByReason: lane[ReasonField.retried],
                deadLetteredByReason: lane[ReasonField.deadLettered],
                apnsLatency: LatencyReport(lane[.apnsLatency]),
                endToEnd: LatencyReport(lane[.endToEnd]),
                dwell: LatencyReport(lane[.dwell]),
                waiting: depth?.messages,
                oldestMs: queue.flatMap { picture.ages[$0.name] },
                consumers: depth?.consumers
            )
        }
        let hour = minutes?.total()
        let report = minutes.map { SeriesReport($0, hasLatency: false, in: picture.series) }
        self.row = row
        self.rest = Rest(
            timeMs: picture.time.milliseconds,
            lanes: lanes,
            settings: picture.configured.apps.first { $0.id == row.app }?.settings ?? [:],
            reasons: ReasonCount.all(counted, hour: hour),
            minutes: report,
            deliveredMinute: minutes?.last(1).total()[.delivered],
            retriedHour: hour?[CounterField.retried],
            deadLetteredHour: hour?[CounterField.deadLettered],
            series: report?.delivered.suffix(AppMinutes.shown)
        )
    }

    func encode(to encoder: any Encoder) throws {
        try self.row.encode(to: encoder)
        try self.rest.encode(to: encoder)
    }
}
