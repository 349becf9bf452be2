import Simulator
import Store
import TestServers

/// What one worker has of a budget, as Redis tells it.
struct Share {
    let id: String
    let grant: Int
    let open: Int
    let want: Int
    /// By the clock of Redis, in milliseconds; since when it has no connection and wants one, 0 when it has one.
    let hungry: Int

    /// - Parameter entry: a field of the pool's hash and its value; nil for what is no worker's.
    init?(_ id: Substring, _ value: Substring) {
        let numbers = value.split(separator: " ").compactMap { Int($0) }
        guard id != "meta", numbers.count == 9 else { return nil }
        self.id = String(id)
        self.grant = numbers[0]
        self.open = numbers[1]
        self.want = numbers[2]
        self.hungry = numbers[7]
    }
}

/// A budget as Redis tells it, without those who have left.
struct Shares {
    let all: [Share]
    /// When a worker renewed last, by the clock of Redis in milliseconds.
    let time: Int

    /// - Parameter hash: what HGETALL prints.
    init(_ hash: String) {
        let lines = hash.split(separator: "\n")
        let pairs = stride(from: 0, to: lines.count - 1, by: 2).map { (lines[$0], lines[$0 + 1]) }
        self.all = pairs.compactMap { Share($0.0, $0.1) }.filter { $0.grant > 0 || $0.want > 0 }
        let meta = pairs.first { $0.0 == "meta" }?.1.split(separator: " ") ?? []
        self.time = meta.count == 3 ? Int(meta[1]) ?? 0 : 0
    }

    var held: Int { self.all.reduce(0) { $0 + $1.grant } }
    var most: Int { self.all.map(\.grant).max() ?? 0 }
    var least: Int { self.all.map(\.grant).min() ?? 0 }
}

extension Fleet {
    /// - Parameter poolKey: of which budget; nil for that of the first key.
    func shares(of poolKey: String? = nil) throws -> Shares {
        Shares(try self.redis.cli("HGETALL", poolKey ?? self.poolKey))
    }

    /// When more connections were open than there may be, and how many, by the simulator's ledger.
    func overages(above budget: Int) async throws -> [Overage] {
        let records = try await self.simulator.connections(limit: 100_000)
        let opened = records.map { (time: $0.openedAt, change: 1) }
        let closed = records.compactMap { record in record.closedAt.map { (time: $0, change: -1) } }
        // Within one millisecond the one that closed came first: the other order shows in the peak.
        let changes = (opened + closed).sorted { ($0.time, $0.change) < ($1.time, $1.change) }
        var (open, overages, current) = (0, [Overage](), Overage?.none)
        for (time, change) in changes {
            open += change
            if open > budget {
                var overage = current ?? Overage(from: time, to: time, most: 0)
                overage.most = max(overage.most, open - budget)
                current = overage
            } else if var overage = current.take() {
                overage.to = time
                overages.append(overage)
            }
        }
        if var overage = current {
            overage.to = .max
            overages.append(overage)
        }
        return overages
    }
}

/// A time in which more connections were open than there may be; milliseconds since 1970.
struct Overage: CustomStringConvertible {
    var from: Int64
    var to: Int64
    var most: Int

    var description: String { "\(self.most) for \(Duration.milliseconds(self.to - self.from).seconds)" }
}
