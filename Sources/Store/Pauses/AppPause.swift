package import Push

/// That an app is paused for the whole fleet, or was until a moment ago.
package struct AppPause: Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// By what Apple answers: refused credential, suspect tokens. A push that goes through ends it.
        case fault
        /// By an operator. Nothing but another order, or its own end, ends it.
        case hand
    }

    package var app: String
    package var kind: Kind
    /// False when it was resumed a while ago.
    package var isPaused: Bool
    /// `credential`, `suspects` or `hand`.
    package var cause: String
    /// When it began, by the clock of Redis; tells one pause from the next.
    package var since: UnixTime
    /// When the next probe may go, or when a pause by hand ends by itself; nil for one without end.
    package var until: UnixTime?
    /// How many waits there were, the present one included.
    package var pauses: Int
    /// The worker whose probe finds out, until `probeEnds`.
    package var prober: String?
    package var probeEnds: UnixTime
    /// Who paused it: a worker as host and process id, or an operator.
    package var by: String
    /// What the operator said.
    package var reason: String
    /// When Redis was asked, by its clock.
    package var time: UnixTime

    /// How long until ``until``, seen from ``time``; nil for no end.
    package var left: Duration? { self.until.map { max(.zero, $0 - self.time) } }
    /// How long the prober may take, seen from ``time``; zero without one.
    package var probeLeft: Duration { self.prober == nil ? .zero : max(.zero, self.probeEnds - self.time) }
    /// Whether it stops the app now.
    package var isStanding: Bool { self.isPaused && (self.kind == .fault || self.left != .zero) }

    /// Reads an entry of the hash; nil if it is none.
    package init?(field: String, value: String, time: UnixTime) {
        guard let colon = field.firstIndex(of: ":"), let kind = Kind(rawValue: String(field[..<colon])) else {
            return nil
        }
        let words = value.split(separator: " ", maxSplits: 8, omittingEmptySubsequences: false)
        guard words.count == 9 else { return nil }
        let numbers = [words[0], words[2], words[3], words[4], words[6]].compactMap { Int64($0) }
        guard numbers.count == 5 else { return nil }
        let text = words[8].split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
        self.app = String(field[field.index(after: colon)...])
        self.kind = kind
        self.isPaused = numbers[0] == 1
        self.cause = String(words[1])
        self.since = UnixTime(milliseconds: numbers[1])
        self.until = kind == .hand && numbers[2] == 0 ? nil : UnixTime(milliseconds: numbers[2])
        self.pauses = Int(numbers[3])
        self.prober = words[5] == "-" ? nil : String(words[5])
        self.probeEnds = UnixTime(milliseconds: numbers[4])
        self.by = text.first.map(String.init) ?? ""
        self.reason = text.count > 1 ? String(text[1]) : ""
        self.time = time
    }
}
