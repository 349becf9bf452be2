/// A length of time as people write it: a whole number and a unit, `250ms`, `10s`, `5m` or `3h`.
enum Span {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]
    /// 30 days.
    private static let longest: Int64 = 2_592_000_000

    static let problem = "must be a whole number and a unit, such as 250ms, 10s, 5m or 3h, and at most 30 days"

    static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let unit = self.units.first(where: { $0.name == text.dropFirst(digits.count) }),
            let number = Int64(digits), number <= self.longest / unit.milliseconds
        else { return nil }
        return .milliseconds(number * unit.milliseconds)
    }
}
