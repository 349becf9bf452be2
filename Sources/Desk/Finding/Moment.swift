internal import Push

/// Points in time for people, in UTC.
package enum Moment {
    /// `2026-01-31 09:05:07.250 UTC`
    package static func full(_ milliseconds: Int64) -> String {
        "\(UnixTime(milliseconds: milliseconds).date) \(Self.time(milliseconds)) UTC"
    }

    /// `09:05:07.250`
    package static func time(_ milliseconds: Int64) -> String {
        let day = ((milliseconds % 86_400_000) + 86_400_000) % 86_400_000
        let parts = [day / 3_600_000, day / 60_000 % 60, day / 1000 % 60].map { Self.padded($0, 2) }
        return "\(parts.joined(separator: ":")).\(Self.padded(day % 1000, 3))"
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = "\(value)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
