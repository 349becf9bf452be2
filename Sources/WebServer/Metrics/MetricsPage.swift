/// Text in Prometheus' format, version 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
package struct MetricsPage {
    package enum Kind: String {
        case counter, gauge, histogram
    }

    private struct Family {
        let kind: Kind
        /// In the order in which they came.
        var names: [String] = []
        var values: [String: Double] = [:]
    }

    private var families: [(name: String, family: Family)] = []
    private var places: [String: Int] = [:]

    package init() {}

    /// - Parameter labels: one without a value is left out.
    package mutating func add(
        _ name: String,
        _ kind: Kind,
        _ value: Double,
        _ labels: KeyValuePairs<String, String> = [:]
    ) {
        self.set(name, of: name, kind, value, labels, isSum: false)
    }

    /// The same for a counter, added to what it has.
    package mutating func sum(_ name: String, _ value: Double, _ labels: KeyValuePairs<String, String>) {
        self.set(name, of: name, .counter, value, labels, isSum: true)
    }

    /// A histogram of milliseconds, in seconds.
    /// - Parameters:
    ///   - bounds: upper ends of the buckets, ascending; what lies beyond the last is in `count` alone.
    ///   - counts: one for each bound; each counts what the one before does not.
    package mutating func add(
        _ name: String,
        bounds: [Int64],
        counts: [Int64],
        count all: Int64,
        sum: Int64,
        _ labels: KeyValuePairs<String, String>
    ) {
        var count: Int64 = 0
        for (bound, more) in zip(bounds, counts) {
            count += more
            let le = Self.number(Double(bound) / 1000)
            self.set("\(name)_bucket", of: name, .histogram, Double(count), labels, le: le, isSum: false)
        }
        let all = Double(all)
        self.set("\(name)_bucket", of: name, .histogram, all, labels, le: "+Inf", isSum: false)
        self.set("\(name)_sum", of: name, .histogram, Double(sum) / 1000, labels, isSum: false)
        self.set("\(name)_count", of: name, .histogram, all, labels, isSum: false)
    }

    private mutating func set(
        _ name: String,
        of family: String,
        _ kind: Kind,
        _ value: Double,
        _ labels: KeyValuePairs<String, String>,
        le: String? = nil,
        isSum: Bool
    ) {
        let place = self.places[family] ?? self.families.count
        if place == self.families.count {
            self.families.append((family, Family(kind: kind)))
            self.places[family] = place
        }
        var text = labels.filter { !$0.value.isEmpty }.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }
        if let le { text.append("le=\"\(le)\"") }
        let line = "\(name)\(text.isEmpty ? "" : "{\(text.joined(separator: ","))}")"
        if let old = self.families[place].family.values[line] {
            self.families[place].family.values[line] = isSum ? old + value : value
        } else {
            self.families[place].family.names.append(line)
            self.families[place].family.values[line] = value
        }
    }

    /// The whole page.
    package var text: String {
        var text = ""
        for (name, family) in self.families {
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            for line in family.names { text += "\(line) \(Self.number(family.values[line] ?? 0))\n" }
        }
        return text
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String) -> String {
        // Nearly all are plain, and looking for strings in each of ten thousands takes a while.
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") || $0 == 10 }) else {
            return text
        }
        return text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
