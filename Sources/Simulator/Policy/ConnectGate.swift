internal import Push

/// Lets connections in, or not, by how many their sender has opened lately.
///
/// Source: Apple, "Establishing a connection to APNs": opening and closing connections in quick succession is treated
/// as an attack, and blocked for a while.
struct ConnectGate: Sendable {
    private struct Source {
        var opened: [MonotonicTime] = []
        var blockedUntil: MonotonicTime?
    }

    private var sources: [String: Source] = [:]
    /// Connections that were turned away.
    private(set) var refused = 0

    /// Counts a connection from `source`.
    /// - Parameter open: connections that are open or being made.
    /// - Returns: why it is turned away; nil when it may come in.
    mutating func admit(_ source: String, open: Int, policy: ConnectionPolicy, at now: MonotonicTime) -> String? {
        let problem = self.problem(with: source, open: open, policy: policy, at: now)
        if problem != nil { self.refused += 1 }
        return problem
    }

    private mutating func problem(
        with source: String,
        open: Int,
        policy: ConnectionPolicy,
        at now: MonotonicTime
    ) -> String? {
        if let until = self.sources[source]?.blockedUntil {
            if now < until { return "its address is blocked" }
            self.sources[source] = nil
        }
        if let limit = policy.connectLimit {
            var known = self.sources[source] ?? Source()
            known.opened.removeAll { now - $0 >= policy.connectWindow }
            guard known.opened.count < limit else {
                known.opened.removeAll()
                known.blockedUntil = now + policy.connectBlock
                self.sources[source] = known
                return "its address opens too many connections"
            }
            known.opened.append(now)
            self.sources[source] = known
        }
        if let most = policy.maxConnections, open >= most { return "too many connections are open" }
        return nil
    }

    mutating func block(_ source: String, until time: MonotonicTime) {
        self.sources[source, default: Source()].blockedUntil = time
    }

    mutating func reset() {
        self = ConnectGate()
    }
}
