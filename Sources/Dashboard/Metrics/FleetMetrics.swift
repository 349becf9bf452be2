internal import Desk
internal import Push
internal import Store

/// The fleet for Prometheus: the first part of deploy/prometheus/metrics.md.
struct FleetMetrics {
    let text: String

    init(_ picture: FleetPicture, version: String) {
        var page = MetricsPage()
        page.add("pushfleet_build_info", .gauge, 1, ["version": version])
        page.add("pushfleet_source_up", .gauge, picture.status == nil ? 0 : 1, ["source": "redis"])
        page.add("pushfleet_source_up", .gauge, picture.queues == nil ? 0 : 1, ["source": "rabbitmq"])
        self.text = page.text
    }
}

/// Text in Prometheus' format, version 0.0.4.
struct MetricsPage {
    enum Kind: String {
        case counter, gauge, histogram
    }

    private var families: [(name: String, kind: Kind, lines: String)] = []
    private var places: [String: Int] = [:]

    mutating func add(_ name: String, _ kind: Kind, _ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
        let place = self.places[name] ?? self.families.count
        if place == self.families.count {
            self.families.append((name, kind, ""))
            self.places[name] = place
        }
        let text = labels.filter { !$0.value.isEmpty }.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }
        let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        self.families[place].lines += "\(name)\(text.isEmpty ? "" : "{\(text.joined(separator: ","))}") \(number)\n"
    }

    var text: String { self.families.map { "# TYPE \($0.name) \($0.kind.rawValue)\n\($0.lines)" }.joined() }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
