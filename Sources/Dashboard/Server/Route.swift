/// The routes of the contract, and who may call them.
enum Route: String, CaseIterable, Sendable {
    case session, events, overview, apps, app, workers, budgets, leases, ladder, dead, jobs, reasons, credentials, find
    case actions
    case pause = "app/pause"
    case resume = "app/resume"
    case drain = "worker/drain"
    case letter = "dead/letter"
    case replay = "dead/replay"
    case edit = "dead/edit"
    case purge = "dead/purge"
    case stop = "job/stop"

    static let prefix = "/api/"

    /// The route at a path; nil if there is none.
    init?(path: String) {
        guard path.hasPrefix(Self.prefix) else { return nil }
        self.init(rawValue: String(path.dropFirst(Self.prefix.count)))
    }

    /// The methods that it takes.
    var methods: [String] {
        switch self {
        case .session: ["GET", "POST", "DELETE"]
        case .find, .pause, .resume, .drain, .replay, .edit, .purge, .stop: ["POST"]
        default: ["GET"]
        }
    }

    /// What an acting call is called in the list of actions; nil for one that only asks.
    var action: ActionEntry.Action? {
        switch self {
        case .pause: .pause
        case .resume: .resume
        case .drain: .drain
        case .replay: .replay
        case .edit: .edit
        case .purge: .purge
        case .stop: .stop
        default: nil
        }
    }

    /// The query's parameters that it knows.
    var parameters: Set<String> {
        switch self {
        case .apps: ["q", "state", "sort", "offset", "limit"]
        case .app: ["app"]
        case .workers: ["q", "offset", "limit"]
        case .budgets: ["offset", "limit"]
        case .leases: ["pool", "worker", "offset", "limit"]
        case .dead: ["app", "lane", "reason", "apns_reason", "min_age_ms", "max_age_ms", "q", "after", "limit"]
        case .letter: ["id"]
        default: []
        }
    }

    /// Bytes of a body. A dead letter of 256 KiB grows up to sixfold when JSON escapes it; 500 ids may have 128 bytes.
    var bodyLimit: Int {
        switch self {
        case .edit: 2 << 20
        case .replay, .purge: 128 << 10
        default: 8 << 10
        }
    }
}
