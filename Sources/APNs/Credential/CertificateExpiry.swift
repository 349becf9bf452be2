package import Push

/// When to speak of a certificate's end: from 30 days before, once a day.
///
/// Apple's certificates last 13 months, and nothing renews them but a person.
package struct CertificateExpiry: Sendable {
    /// How long before its end a certificate is spoken of.
    package static let notice: Duration = .seconds(30 * 24 * 3600)

    /// The last moment at which the certificate is valid.
    package let notAfter: UnixTime
    private var warnedAt: UnixTime?

    package init(notAfter: UnixTime) {
        self.notAfter = notAfter
    }

    /// Whole days that are left when a warning is due now; nil when none is. Negative once it has ended.
    package mutating func warning(at now: UnixTime) -> Int? {
        guard Self.isNear(self.notAfter, at: now) else { return nil }
        if let last = self.warnedAt, now - last < .seconds(24 * 3600), now >= last { return nil }
        self.warnedAt = now
        return Self.days(to: self.notAfter, at: now)
    }

    package static func isNear(_ notAfter: UnixTime, at now: UnixTime) -> Bool { notAfter - now <= Self.notice }

    /// Whole days, rounded down.
    package static func days(to notAfter: UnixTime, at now: UnixTime) -> Int {
        let milliseconds = notAfter.milliseconds - now.milliseconds
        let day: Int64 = 24 * 3600 * 1000
        return Int(milliseconds >= 0 ? milliseconds / day : -((day - 1 - milliseconds) / day))
    }
}
