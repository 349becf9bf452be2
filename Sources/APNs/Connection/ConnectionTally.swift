internal import HTTP2

/// How many connections came and went, by what became of them; for metrics.
package struct ConnectionTally: Hashable, Sendable {
    /// Attempts to open one: `ok`, or why it never became ready.
    package private(set) var opened: [String: Int] = [:]
    /// Connections that were ready, by why they are over.
    package private(set) var closed: [String: Int] = [:]

    package init() {}

    mutating func becameReady() { self.opened["ok", default: 0] += 1 }

    /// - Parameter sawGoAway: whether Apple had said that it ends.
    mutating func closed(_ reason: CloseReason, wasReady: Bool, sawGoAway: Bool) {
        let cause = sawGoAway ? "goaway" : reason.cause
        if wasReady { self.closed[cause, default: 0] += 1 } else { self.opened[cause, default: 0] += 1 }
    }
}

extension CloseReason {
    /// Its name as a label of metrics: a closed set.
    fileprivate var cause: String {
        switch self {
        case .transport: "lost"
        case .settingsTimeout: "no_settings"
        case .refused: "refused"
        case .pingTimeout: "silent"
        case .protocolError: "protocol"
        case .drained: "drained"
        case .drainTimeout: "drain_timeout"
        case .closed: "closed"
        }
    }
}
