internal import Push

/// Durations as operators write them: a whole number and a unit, `250ms`, `10s`, `5m`, `3h` or `7d`.
enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Plain numbers are refused: nobody should have to guess their unit.
    static func parse(_ text: String) throws(ValueFault) -> Duration {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count)
        guard !digits.isEmpty else {
            throw ValueFault(phrase: "is not a duration; write a whole number and a unit, such as 250ms, 10s, 5m or 3h")
        }
        guard !unit.isEmpty else {
            throw ValueFault(phrase: "has no unit; write \(digits)s for seconds, or use ms, m, h or d")
        }
        guard let scale = Self.units.first(where: { $0.name == unit })?.milliseconds else {
            throw ValueFault(phrase: "is not a duration; write one whole number and one of the units ms, s, m, h, d")
        }
        // A hundred years is more than anything here may last, and keeps all sums far from overflow.
        guard let number = Int64(digits), number <= 3_153_600_000_000 / scale else {
            throw ValueFault(phrase: "is longer than a hundred years")
        }
        return .milliseconds(number * scale)
    }

    /// The shortest way to write a duration exactly, to the millisecond: `90s`, `5m`, `1500ms`.
    static func format(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        guard milliseconds != 0 else { return "0s" }
        for unit in Self.units.reversed() where milliseconds % unit.milliseconds == 0 {
            return "\(milliseconds / unit.milliseconds)\(unit.name)"
        }
        return "\(milliseconds)ms"
    }

    /// A length of time for people, in all units it has: `2h 50m 30s`, `1.5s`, `250ms`.
    static func spoken(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        if milliseconds < 1000 { return milliseconds == 0 ? "0s" : "\(milliseconds)ms" }
        if milliseconds < 60_000 {
            return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(Double(milliseconds / 100) / 10)s"
        }
        let seconds = milliseconds / 1000
        let parts = [
            (seconds / 86_400, "d"), (seconds % 86_400 / 3600, "h"), (seconds % 3600 / 60, "m"), (seconds % 60, "s"),
        ]
        return parts.filter { $0.0 != 0 }.map { "\($0.0)\($0.1)" }.joined(separator: " ")
    }
}
