internal import ArgumentParser
internal import Desk
internal import Foundation
internal import Loop
internal import Push
internal import Worker

/// The options that choose dead letters.
struct DeadFilterOptions: ParsableArguments {
    @Option(help: "Only letters of this app.")
    var app: String?
    @Option(help: "Only letters of this lane: now or bulk.")
    var lane: Lane?
    @Option(help: "Only letters with this reason, such as age_limit, or this answer of Apple.")
    var reason: String?
    @Option(help: ArgumentHelp("Only letters with this reason of Apple's, known or not.", valueName: "reason"))
    var apnsReason: String?
    @Option(help: ArgumentHelp("Only letters that died before: 2h, or a date.", valueName: "time"))
    var olderThan: String?
    @Option(help: ArgumentHelp("Only letters that died since: 2h, or a date.", valueName: "time"))
    var newerThan: String?
    @Option(help: ArgumentHelp("Only letters of this message.", valueName: "id"))
    var messageId: String?
    @Option(help: ArgumentHelp("Only with this in message id, field or detail.", valueName: "text"))
    var contains: String?

    func validate() throws { _ = try self.filter(now: WallClock.now()) }

    var isEmpty: Bool {
        (try? self.filter(now: UnixTime(milliseconds: 0))) == DeadLetterFilter.all
    }

    /// - Throws: if there is nothing and the app that was named is not known.
    func requireKnownApp(_ settings: FleetSettings) throws(VerbFailure) {
        let apps = settings.apps.map(\.id)
        guard let app = self.app, !apps.contains(app) else { return }
        let near = EditDistance.nearest(to: app.utf8, among: apps).map { "; did you mean \($0)?" }
        throw VerbFailure(
            "there is no dead letter of app \(Quoted.text(app.utf8, limit: 128)), and no such app\(near ?? "")"
        )
    }

    /// - Throws: a usage error that names the option and the fix.
    func filter(now: UnixTime) throws -> DeadLetterFilter {
        var filter = DeadLetterFilter()
        if let app = self.app, app.isEmpty { throw ValidationError("'--app' is empty; leave it out for all apps") }
        filter.app = self.app
        filter.lane = self.lane
        filter.messageID = self.messageId.map { Array($0.utf8) }
        filter.text = self.contains
        filter.apnsReason = self.apnsReason
        if let reason = self.reason { try Self.apply(reason, to: &filter) }
        filter.diedBefore = try self.olderThan.map { try Self.time($0, "--older-than", now: now) }
        filter.diedSince = try self.newerThan.map { try Self.time($0, "--newer-than", now: now) }
        if let before = filter.diedBefore, let since = filter.diedSince, before <= since {
            throw ValidationError("nothing died before '--older-than' and since '--newer-than'; exchange the two")
        }
        return filter
    }

    private static func apply(_ reason: String, to filter: inout DeadLetterFilter) throws {
        let name = reason.lowercased().replacing("-", with: "_")
        if DeadLetterReason(rawValue: name) != nil || Self.brokersReasons.contains(name) {
            filter.reason = name
        } else if let known = ReasonReport.find(reason).first, known.source == "apns" {
            guard filter.apnsReason == nil || filter.apnsReason == known.reason else {
                throw ValidationError("'--reason' and '--apns-reason' name two answers of Apple; give one of them")
            }
            filter.apnsReason = known.reason
        } else {
            let near = ReasonReport.nearest(to: reason).map { "did you mean \($0)?" }
            throw ValidationError(
                "'--reason' \(Quoted.text(reason.utf8)) is no reason; \(near ?? "pushfleet explain lists them all")"
            )
        }
    }

    /// Why RabbitMQ gives messages up (https://www.rabbitmq.com/docs/dlx), and what is said where nobody said why.
    private static let brokersReasons = ["rejected", "maxlen", "unknown"]

    private static func time(_ text: String, _ option: String, now: UnixTime) throws -> UnixTime {
        if let age = try? DurationText.parse(text) { return now - age }
        if let date = try? Date(text, strategy: .iso8601) { return UnixTime(date) }
        if let day = try? Date(text, strategy: .iso8601.year().month().day()) { return UnixTime(day) }
        throw ValidationError(
            "'\(option)' \(Quoted.text(text.utf8)) is neither a length of time such as 30m, 2h or 7d nor a date such as "
                + "2026-01-31 or 2026-01-31T09:00:00Z"
        )
    }
}

extension UnixTime {
    fileprivate init(_ date: Date) {
        self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}

extension DeadLetterID: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument.lowercased()) }
}
