/// What the list of apps is asked for.
struct AppQuestion: Equatable {
    enum State: String, CaseIterable {
        case all, paused, waiting, dead
    }

    enum Sort: String, CaseIterable {
        case app, waiting, oldest, delivered, retried, dead
    }

    var part: String?
    var state = State.all
    var sort = Sort.app
    var page = Page()

    init(_ parameters: Parameters) throws(Problem) {
        self.part = try parameters.text("q", limit: 255)?.lowercased()
        self.state = try parameters.choice("state") ?? .all
        self.sort = try parameters.choice("sort") ?? .app
        self.page = try parameters.page()
    }

    /// Those that fit, in an order in which no two are equal.
    func select(_ rows: [AppRow]) -> [AppRow] {
        let found = rows.filter { row in
            switch self.state {
            case .all: true
            case .paused: row.paused != nil
            case .waiting: (row.waiting ?? 0) > 0
            case .dead: row.deadLetteredHour ?? row.deadLettered > 0
            }
        }.filter { row in
            guard let part = self.part else { return true }
            return row.app.lowercased().contains(part) || row.credential?.lowercased().contains(part) == true
        }
        // They come sorted by name, and Swift's sort keeps what is equal in its order.
        switch self.sort {
        case .app: return found
        case .waiting: return found.sorted { $0.waiting ?? 0 > $1.waiting ?? 0 }
        case .oldest: return found.sorted { $0.oldestMs ?? -1 > $1.oldestMs ?? -1 }
        case .delivered: return found.sorted { $0.deliveredRank > $1.deliveredRank }
        case .retried: return found.sorted { $0.retriedRank > $1.retriedRank }
        case .dead: return found.sorted { $0.deadRank > $1.deadRank }
        }
    }
}

/// A list by page.
struct PageReport<Item: Encodable>: Encodable {
    let timeMs: Int64
    /// Items that fit.
    let total: Int
    let items: [Item]

    init(_ items: [Item], _ page: Page, at time: Int64) {
        self.timeMs = time
        self.total = items.count
        self.items = Array(page.of(items))
    }
}

/// A list that is short enough to come whole.
struct ListReport<Item: Encodable>: Encodable {
    let timeMs: Int64
    let items: [Item]
}

extension ListReport: Sendable where Item: Sendable {}
