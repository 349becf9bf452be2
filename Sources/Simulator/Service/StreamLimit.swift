/// How many requests a connection may have open at once: the value that SETTINGS_MAX_CONCURRENT_STREAMS announces.
///
/// Source: Apple, "Establishing a connection to APNs": with provider tokens it is 1 until the first good one. That it
/// falls to 1 after a rejection and is restored by the next success was seen by operators.
struct StreamLimit: Equatable, Sendable {
    struct Settings: Equatable, Sendable {
        /// Before the first good provider token.
        var initial: UInt32 = 1
        /// After it.
        var full: UInt32 = 1000
        var dropsAfterRejection = false
    }

    var settings: Settings
    private(set) var current: UInt32
    private var isOpen = false
    private var isPunished = false
    private var held: UInt32?

    /// - Parameter held: the value that is held from the beginning; nil for none.
    init(settings: Settings, held: UInt32? = nil) {
        self.settings = settings
        self.held = held
        self.current = held ?? settings.initial
    }

    /// Takes in one verdict.
    /// - Returns: the limit to announce, when it has changed.
    mutating func judged(isAuthorized: Bool, isAccepted: Bool) -> UInt32? {
        if isAuthorized { self.isOpen = true }
        self.isPunished = self.settings.dropsAfterRejection && !isAccepted
        return self.change()
    }

    /// The connection itself says who is at the other end.
    mutating func authorize() -> UInt32? {
        self.isOpen = true
        return self.change()
    }

    /// Takes new settings.
    mutating func set(_ settings: Settings) -> UInt32? {
        self.settings = settings
        if !settings.dropsAfterRejection { self.isPunished = false }
        return self.change()
    }

    /// Holds one value whatever is judged, or with nil no longer does so.
    mutating func hold(_ limit: UInt32?) -> UInt32? {
        self.held = limit
        return self.change()
    }

    private mutating func change() -> UInt32? {
        let judged = self.isPunished ? 1 : self.isOpen ? self.settings.full : self.settings.initial
        let wanted = self.held ?? judged
        guard wanted != self.current else { return nil }
        self.current = wanted
        return wanted
    }
}
