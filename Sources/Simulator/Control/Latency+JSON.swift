internal import Push

extension Latency {
    /// Milliseconds: a number, the least and the most, or an object with the tail's median and 99th percentile.
    var json: ControlValue {
        let least = ControlValue.integer(self.bounds.lowerBound.milliseconds)
        let most = ControlValue.integer(self.bounds.upperBound.milliseconds)
        switch self.shape {
        case .even: return least == most ? least : [least, most]
        case .tail(let median, let p99):
            return [
                "median": .integer(median.milliseconds), "p99": .integer(p99.milliseconds), "least": least,
                "most": most,
            ]
        }
    }
}

extension Fields {
    /// Milliseconds: one number, an array of the least and the most, or an object that names `median` and `p99`.
    mutating func latency(_ name: String) throws(BadField) -> Latency? {
        guard let value = self.take(name) else { return nil }
        switch value {
        case .integer(let fixed) where Self.longest.contains(fixed):
            return .fixed(.milliseconds(fixed))
        case .array(let bounds):
            if bounds.count == 2, case .integer(let least) = bounds[0], case .integer(let most) = bounds[1],
                Self.longest.contains(least), Self.longest.contains(most), least <= most
            {
                return Latency(.milliseconds(least) ... .milliseconds(most))
            }
        case .object: return try Self.tail(value, at: self.place(name))
        default: break
        }
        throw self.error(
            name,
            "must be a whole number of milliseconds from 0 to \(Self.longest.upperBound), [least, most] of them, or "
                + "an object with median and p99"
        )
    }

    private static func tail(_ value: ControlValue, at place: String) throws(BadField) -> Latency {
        var fields = try Fields(value, at: place)
        guard let median = try fields.integer("median", in: 1...self.longest.upperBound) else {
            throw fields.error("median", "is required: a whole number of milliseconds")
        }
        guard let p99 = try fields.integer("p99", in: median...self.longest.upperBound) else {
            throw fields.error("p99", "is required: a whole number of milliseconds, at least the median")
        }
        let least = try fields.integer("least", in: 0...median) ?? 0
        let most = try fields.integer("most", in: median...self.longest.upperBound) ?? self.longest.upperBound
        try fields.end()
        return Latency(
            .milliseconds(least) ... .milliseconds(most),
            shape: .tail(median: .milliseconds(median), p99: .milliseconds(p99))
        )
    }

    /// Whole milliseconds, up to a day.
    mutating func duration(_ name: String, from least: Int64 = 0) throws(BadField) -> Duration? {
        try self.integer(name, in: least...Self.longest.upperBound).map { .milliseconds($0) }
    }

    private static let longest: ClosedRange<Int64> = 0...86_400_000
}
