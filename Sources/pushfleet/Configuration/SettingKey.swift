/// One key that the configuration may hold: a row of `SettingsTable`.
struct SettingKey: Sendable {
    /// What its value looks like.
    enum Kind: Sendable, Equatable {
        /// Any text that is not empty.
        case text
        /// Ten characters of A–Z and 0–9, as Apple names keys and teams.
        case appleID
        /// Where RabbitMQ is: `amqp://` or `amqps://`.
        case amqpURL
        /// Where Redis is: `redis://` or `rediss://`.
        case redisURL
        /// An HTTP proxy: `http://`.
        case proxyURL
        /// The path of a file that can be read.
        case file
        /// A duration in this range, both ends included.
        case duration(ClosedRange<Duration>)
        /// A whole number in this range.
        case integer(ClosedRange<Int>)
        /// Bytes in this range, with a unit: `256MB`.
        case size(ClosedRange<Int>)
        /// One of these words.
        case choice([String])
        /// An account of Amazon's: 12 digits.
        case account
        /// What an access key may do.
        case policy
    }

    /// The words that lead to it; `*` stands for a name that the operator chooses.
    let path: [String]
    let kind: Kind
    /// What holds when it is left out, written as the operator would; nil if nothing does.
    let standard: String?
    /// Whether it must be given.
    let isRequired: Bool
    /// Whether its value must never be shown whole.
    let isSecret: Bool
    /// What it is for.
    let sentence: String

    init(
        _ path: String,
        _ kind: Kind,
        standard: String? = nil,
        isRequired: Bool = false,
        isSecret: Bool = false,
        _ sentence: String
    ) {
        self.path = path.split(separator: ".").map(String.init)
        self.kind = kind
        self.standard = standard
        self.isRequired = isRequired
        self.isSecret = isSecret
        self.sentence = sentence
    }

    /// The words joined by dots, as problems name it: `apps.*.retry.min_backoff`.
    var pattern: String { self.path.joined(separator: ".") }

    /// The kind of value in a word or two, for tables.
    var kindPhrase: String {
        switch self.kind {
        case .text: "text"
        case .appleID: "10 characters A-Z 0-9"
        case .amqpURL: "amqp:// or amqps://"
        case .redisURL: "redis:// or rediss://"
        case .proxyURL: "http://"
        case .file: "path of a file"
        case .duration(let range):
            "duration \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        case .integer(let range):
            range.upperBound == .max
                ? "number from \(range.lowerBound)"
                : "number \(range.lowerBound) to \(range.upperBound)"
        case .size(let range): "\(SizeText.format(range.lowerBound)) to \(SizeText.format(range.upperBound))"
        case .choice(let words): words.joined(separator: " or ")
        case .account: "12 digits"
        case .policy: "<action> on <resource>, …"
        }
    }
}
