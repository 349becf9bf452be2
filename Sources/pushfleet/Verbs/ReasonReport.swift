internal import Push

/// What `pushfleet explain` says about one reason.
struct ReasonReport: Encodable, Equatable {
    /// As it is written where it occurs.
    let reason: String
    /// `apns` for answers of Apple, `dead_letter` for what stands in a dead letter's header.
    let source: String
    /// Whether it is an answer to broadcasts and channel management; an answer to a push to a device may be another.
    let isBroadcast: Bool
    /// The HTTP status of an answer.
    let status: Int?
    let meaning: String
    let nextStep: String
    /// What the fleet does by itself.
    let handling: String

    private init(_ row: StatusReason) {
        self.reason = row.reason.isEmpty ? (row.disposition == .ok ? "OK" : "(any other reason)") : row.reason
        self.source = "apns"
        self.isBroadcast = row.api == .broadcast
        self.status = row.status == 0 ? nil : row.status
        self.meaning = row.meaning
        self.nextStep = row.nextStep
        self.handling = Self.handling(of: row)
    }

    private init(_ reason: DeadLetterReason) {
        self.reason = reason.rawValue
        self.source = "dead_letter"
        self.isBroadcast = false
        self.status = nil
        self.meaning = reason.meaning
        self.nextStep = reason.nextStep
        self.handling = "The message is in the dead-letter queue."
    }

    static let all: [ReasonReport] =
        [ReasonReport(ReasonTable.ok)] + ReasonTable.rows.map { ReasonReport($0) }
        + DeadLetterReason.allCases.map { ReasonReport($0) }

    /// All that go by this name or status.
    static func find(_ text: String) -> [ReasonReport] {
        let rows = ReasonTable.explain(text).map { ReasonReport($0) }
        let wanted = text.lowercased().replacing("-", with: "_")
        return rows + DeadLetterReason.allCases.filter { $0.rawValue == wanted }.map { ReasonReport($0) }
    }

    static func nearest(to text: String) -> String? {
        ReasonTable.nearest(to: text)
            ?? EditDistance.nearest(to: text.utf8, among: DeadLetterReason.allCases.map(\.rawValue), within: 3)
    }

    private static func handling(of row: StatusReason) -> String {
        var parts: [String] =
            switch row.disposition {
            case .ok: ["The message is acknowledged and counted as delivered."]
            case .payload: ["The message goes to the dead-letter queue at once."]
            case .token: ["The token is reported on the feedback exchange and never tried again."]
            case .context: ["The message goes to the dead-letter queue as suspect_token; no token is removed."]
            case .credential where row.api == .broadcast && row.flags.contains(.topicScoped):
                ["Broadcasts wait a minute and are tried again without counting as an attempt; other pushes go on."]
            case .credential: ["The credential pauses and the message goes back to its queue, unharmed."]
            case .backoff:
                [
                    row.countsAttempt
                        ? "The message is tried again by the app's retry schedule."
                        : "The message is tried again; the try does not count as an attempt."
                ]
            }
        if let floor = row.delayFloor { parts.append("The wait is at least \(DurationText.format(floor)).") }
        if row.flags.contains(.refreshToken) { parts.append("A new provider token is made first.") }
        if row.flags.contains(.pauseLane) { parts.append("The credential pauses.") }
        if row.connection == .retire { parts.append("The connection takes no more requests.") }
        return parts.joined(separator: " ")
    }

    func lines() -> [String] {
        let title = self.status.map { "\(self.reason) (APNs\(self.isBroadcast ? " broadcast" : ""), status \($0))" }
        let other = self.source == "apns" ? "\(self.reason) (APNs)" : "\(self.reason) (dead letter)"
        return [title ?? other] + Terminal.wrapped(self.meaning, indent: 2)
            + Terminal.wrapped("What happens: \(self.handling)", indent: 2)
            + Terminal.wrapped("What to do: \(self.nextStep)", indent: 2)
    }

    static func overview() -> [String] {
        var answers = Table("status", "APNs reason", "meaning")
        var letters = Table("dead-letter reason", "meaning")
        for report in Self.all {
            if report.source == "apns" {
                let reason = report.isBroadcast ? "\(report.reason) (broadcast)" : report.reason
                answers.add(report.status.map(String.init) ?? "", reason, report.meaning)
            } else {
                letters.add(report.reason, report.meaning)
            }
        }
        return answers.lines() + [""] + letters.lines() + ["", "pushfleet explain <reason> says what to do about one."]
    }
}
