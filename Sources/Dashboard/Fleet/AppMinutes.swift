internal import Push
internal import Store

/// What each app counted in each of the last whole minutes.
///
/// For 500 apps an hour is 60,000 hashes: they are read in steps, the newest minute first, and each only once. After a
/// start, or when nobody has looked for a while, minutes and then hours become known within half a minute of looking.
struct AppMinutes: Sendable, Equatable {
    /// Of one app in one minute, or in several.
    struct Counts: Sendable, Equatable {
        var delivered: Int64 = 0
        var retried: Int64 = 0
        var deadLettered: Int64 = 0

        static func + (one: Counts, other: Counts) -> Counts {
            Counts(
                delivered: one.delivered + other.delivered,
                retried: one.retried + other.retried,
                deadLettered: one.deadLettered + other.deadLettered
            )
        }
    }

    /// How many minutes of the past the page shows, and so are kept.
    static let length = 60
    /// Of these, how many are shown of each app.
    static let shown = 30
    /// Workers write a minute's last counts up to so long after its end.
    static let settling = Duration.seconds(5)
    /// Hashes that one step reads, about.
    private static let step = 2_000

    /// The minute after the newest one.
    private(set) var end: Int64 = 0
    /// By minute, then by app; apps that counted nothing are left out. A minute that is missing has not been read.
    private var minutes: [Int64: [String: Counts]] = [:]
    /// All minutes together.
    private var sums: [String: Counts] = [:]

    /// Lets go of what is too old at this time.
    mutating func turn(to time: UnixTime) {
        let end = (time - Self.settling).minute
        guard end != self.end else { return }
        self.end = end
        self.minutes = self.minutes.filter { $0.key >= end - Int64(Self.length) && $0.key < end }
        self.sums = [:]
        for apps in self.minutes.values { self.sums.merge(apps, uniquingKeysWith: +) }
    }

    /// The minutes to read in the next step, the newest first.
    /// - Parameter lanes: hashes in each minute.
    func missing(lanes: Int) -> [Int64] {
        let most = max(1, Self.step / max(1, lanes))
        return Array(
            (1...Int64(Self.length)).lazy.map { self.end - $0 }.filter { self.minutes[$0] == nil }.prefix(most)
        )
    }

    mutating func add(_ minute: Int64, _ apps: [String: Counts]) {
        guard minute < self.end, minute >= self.end - Int64(Self.length) else { return }
        guard self.minutes.updateValue(apps, forKey: minute) == nil else { return }
        self.sums.merge(apps, uniquingKeysWith: +)
    }

    /// In the newest minute; nil if it has not been read.
    func minute(_ app: String) -> Counts? {
        self.minutes[self.end - 1].map { $0[app] ?? Counts() }
    }

    /// In the whole hour; nil until all of it has been read.
    func hour(_ app: String) -> Counts? {
        guard self.minutes.count == Self.length else { return nil }
        return self.sums[app] ?? Counts()
    }

    /// Delivered in each of the last minutes, the oldest first: nil where no app wrote anything, or nothing has been
    /// read yet; an app that rested beside others has 0. Nil if nothing has been read at all.
    func delivered(_ app: String) -> [Int64?]? {
        guard !self.minutes.isEmpty else { return nil }
        return (self.end - Int64(Self.shown)..<self.end).map { minute in
            guard let apps = self.minutes[minute], !apps.isEmpty else { return nil }
            return apps[app]?.delivered ?? 0
        }
    }
}
