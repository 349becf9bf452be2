internal import Push
internal import Store

/// One reason as `pushfleet explain` knows it, and how often it came.
struct CountedReason: Encodable, Equatable {
    let reason: String
    let source: ExplainedReason.Source
    let isBroadcast: Bool
    let status: Int?
    let meaning: String
    let nextStep: String
    let handling: String
    /// In the last 60 whole minutes; nil if that is not known.
    let hour: Int64?
    let total: Int64
    /// Which had the most since Redis first knew them.
    let apps: [String]?

    /// The most frequent of the last hour first, then of all times.
    /// - Parameter hour: what was counted in the last 60 whole minutes.
    static func all(
        _ reasons: [ExplainedReason],
        _ lanes: [FleetStatus.Lane],
        hour: FleetStatus.Lane? = nil
    ) -> [CountedReason] {
        var byApp: [ExplainedReason.Source: [String: [String: Int64]]] = [:]
        for lane in lanes {
            for (source, field) in [(ExplainedReason.Source.apns, ReasonField.answered), (.deadLetter, .deadLettered)] {
                for (reason, count) in lane[field] where count > 0 {
                    byApp[source, default: [:]][reason, default: [:]][lane.app, default: 0] += count
                }
            }
        }
        // Counters do not tell an answer to a broadcast from one to a device: it counts where the name is known first.
        var claimed: Set<String> = []
        let counted = reasons.sorted { !$0.isBroadcast && $1.isBroadcast }.map { reason in
            let isFirst = claimed.insert("\(reason.source.rawValue) \(reason.reason)").inserted
            let field = reason.source == .apns ? ReasonField.answered : .deadLettered
            let last = hour.map { isFirst ? $0[field][reason.reason] ?? 0 : 0 }
            return CountedReason(reason, isFirst ? byApp[reason.source]?[reason.reason] ?? [:] : [:], hour: last)
        }
        return counted.sorted { ($0.hour ?? 0, $0.total) > ($1.hour ?? 0, $1.total) }
    }

    private init(_ reason: ExplainedReason, _ apps: [String: Int64], hour: Int64?) {
        self.hour = hour
        self.reason = reason.reason
        self.source = reason.source
        self.isBroadcast = reason.isBroadcast
        self.status = reason.status
        self.meaning = reason.meaning
        self.nextStep = reason.nextStep
        self.handling = reason.handling
        self.total = apps.values.reduce(0, +)
        let most = apps.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(3).map(\.key)
        self.apps = most.isEmpty ? nil : most
    }
}
