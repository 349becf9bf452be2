internal import Push
package import Store

/// Which worker somebody means.
package enum WorkerChoice {
    /// Nobody, or several, go by that name.
    package enum Fault: Error, Equatable {
        case unknown
        /// Ids of those it may mean.
        case ambiguous([String])
        case tooShort
    }

    /// Less of an id is a typing error rather than a choice.
    package static let shortestPrefix = 4

    /// - Parameters:
    ///   - text: an id, the beginning of one, or `host:pid`.
    ///   - workers: all that there are.
    /// - Returns: one worker, or all loops of one process.
    package static func find(_ text: String, among workers: [WorkerBeat]) throws(Fault) -> [WorkerBeat] {
        let process = workers.filter { "\($0.host):\($0.pid)" == text }
        if !process.isEmpty { return process }
        if let worker = workers.first(where: { $0.id == text }) { return [worker] }
        guard text.utf8.count >= Self.shortestPrefix else { throw .tooShort }
        let found = workers.filter { $0.id.hasPrefix(text) }
        switch found.count {
        case 0: throw .unknown
        case 1: return found
        default: throw .ambiguous(found.map(\.id).sorted())
        }
    }
}

/// What a worker does, as far as its heartbeat tells.
package enum WorkerState: String, Sendable, Equatable {
    case works
    /// It has no connection: it waits for a lease.
    case waits
    /// It has not been heard of for longer than two heartbeats and a skipped one.
    case silent
    /// It takes nothing new, and leaves when what it has is done.
    case drains

    /// - Parameter time: of the answer, by the clock of Redis.
    package init(_ beat: WorkerBeat, atMilliseconds time: Int64) {
        let age = beat.lastBeat.map { time - $0.milliseconds } ?? 0
        if age > 10_000 {
            self = .silent
        } else if beat.isDraining {
            self = .drains
        } else if beat.connectionsHeld.values.reduce(0, +) == 0 {
            self = .waits
        } else {
            self = .works
        }
    }
}
