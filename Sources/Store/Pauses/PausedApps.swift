package import Push

/// The pauses of all apps of the fleet: who asks Redis what.
///
/// Every call may run twice without harm, and every answer is read by ``answer(_:)``.
package enum PausedApps {
    /// What a worker tells of one app, or asks for.
    package enum Order: Hashable, Sendable {
        /// Apple's answers stop the app. Who says so first decides when it is tried again.
        /// - `since`: a pause that Redis knew and has lost; nil for a new one.
        case pause(cause: String, wait: Duration, pauses: Int, since: UnixTime?)
        /// May this worker's next push be the one that finds out, or go on to be? One at a time may, for ``lease``.
        case probe(since: UnixTime)
        /// This worker has nothing to probe with.
        case yield(since: UnixTime)
        /// The probe failed; waits double from `first` to `longest`.
        case fail(since: UnixTime, cause: String, first: Duration, longest: Duration)
        /// The probe went through.
        case resume(since: UnixTime)
        /// Another credential is in use: probe at once. Nil for whichever pause there is.
        case due(since: UnixTime?)
        /// Of this worker's first answers so many more said that token and app do not fit. At `least` such answers of all
        /// workers within a minute, and a share of `threshold` percent, stop the app. A count that is lost or doubled
        /// does not matter much: each worker has a breaker of its own.
        case answers(suspects: Int, of: Int, threshold: Int, least: Int, wait: Duration)
        /// An operator stops the app, for a time or, if nil, until further notice.
        /// - `since`: a pause that Redis knew and has lost; nil for a new one.
        case hold(for: Duration?, reason: String, since: UnixTime?)
        /// An operator lets it go.
        case release
    }

    /// For how long a worker may probe without asking again; 6 s, three heartbeats.
    package static let lease: Duration = .seconds(6)

    /// All pauses.
    package static let read = Self.call("read", script: PauseScript.act)

    /// - Parameters:
    ///   - worker: who asks; one word.
    ///   - name: who that is, for people.
    package static func call(_ order: Order, app: String, by worker: String, name: String) -> ScriptCall {
        Self.call(order, app: app, by: worker, name: name, script: PauseScript.act)
    }

    static func call(_ operation: String, script: Script) -> ScriptCall {
        var call = ScriptCall(script, keys: [Keys.pausedApps])
        call.add(operation)
        return call
    }

    static func call(_ order: Order, app: String, by worker: String, name: String, script: Script) -> ScriptCall {
        var call = Self.call(order.name, script: script)
        call.add("\(order.kind.rawValue):\(app)")
        call.add(worker)
        call.add(order.since?.milliseconds ?? 0)
        switch order {
        case .pause(let cause, let wait, let pauses, _):
            call.add(cause)
            call.add(milliseconds: wait)
            call.add(pauses)
            call.add(Self.line(name))
        case .fail(_, let cause, let first, let longest):
            call.add(cause)
            call.add(milliseconds: first)
            call.add(milliseconds: longest)
        case .answers(let suspects, let answers, let threshold, let least, let wait):
            for number in [suspects, answers, threshold, least] { call.add(number) }
            call.add(milliseconds: wait)
            call.add(Self.line(name))
        case .hold(let time, let reason, _):
            call.add(milliseconds: time ?? .zero)
            call.add(Self.line(name))
            call.add(Self.line(reason))
        case .probe, .yield, .resume, .due, .release: break
        }
        return call
    }

    /// Reads an answer: all pauses, or the one concerned as it is now. Nil if it is none.
    package static func answer(_ reply: RedisReply) -> [AppPause]? {
        guard let parts = reply.elements, let time = parts.first?.integer, !parts.count.isMultiple(of: 2) else {
            return nil
        }
        return stride(from: 1, to: parts.count, by: 2).compactMap { index in
            guard let field = parts[index].text, let value = parts[index + 1].text else { return nil }
            return AppPause(field: field, value: value, time: UnixTime(milliseconds: time))
        }
    }

    /// One line of text without what separates things in Redis.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : Character($0) })
    }
}

extension PausedApps.Order {
    fileprivate var name: String {
        switch self {
        case .pause: "pause"
        case .probe: "probe"
        case .yield: "yield"
        case .fail: "fail"
        case .resume: "resume"
        case .due: "due"
        case .answers: "answers"
        case .hold: "hold"
        case .release: "release"
        }
    }

    fileprivate var kind: AppPause.Kind {
        switch self {
        case .hold, .release: .hand
        case .pause, .probe, .yield, .fail, .resume, .due, .answers: .fault
        }
    }

    fileprivate var since: UnixTime? {
        switch self {
        case .pause(_, _, _, let since), .due(let since), .hold(_, _, let since): since
        case .probe(let since), .yield(let since), .resume(let since), .fail(let since, _, _, _): since
        case .release, .answers: nil
        }
    }
}
