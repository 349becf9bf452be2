/// One configuration key as `pushfleet doctor --keys` shows it.
struct KeyReport: Encodable {
    let key: String
    let type: String
    let `default`: String?
    let required: Bool
    let meaning: String

    static let all: [KeyReport] = SettingsTable.keys.map {
        KeyReport(
            key: $0.pattern,
            type: $0.kindPhrase,
            default: $0.standard,
            required: $0.isRequired,
            meaning: $0.sentence
        )
    }

    static func lines() -> [String] {
        Self.all.flatMap { key -> [String] in
            let rest = key.required ? ", required" : key.default.map { ", default \($0)" } ?? ""
            return ["\(key.key): \(key.type)\(rest)"] + Terminal.wrapped(key.meaning, indent: 4)
        } + [
            "", "* stands for a name of your choice. Every key is also an environment variable: amqp.url is",
            "PUSHFLEET_AMQP_URL, budget.lease is PUSHFLEET_BUDGET_LEASE.",
        ]
    }
}
