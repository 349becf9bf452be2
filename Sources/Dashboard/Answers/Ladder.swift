internal import Broker
internal import Desk
internal import Push

/// Where messages wait: `GET /api/ladder`.
struct Ladder: Encodable, Equatable {
    struct Level: Encodable, Equatable {
        let name: String
        let delayMs: Int64
        /// Missing if the queue does not exist.
        let messages: Int?
        var oldestMs: Int64?
    }

    struct Queue: Encodable, Equatable {
        let name: String
        let kind: String
        let lane: String?
        let messages: Int?
        let consumers: Int?
        var oldestMs: Int64?
    }

    let timeMs: Int64
    /// Ascending by delay.
    let levels: [Level]
    /// All others; work queues summed by lane.
    let queues: [Queue]

    /// - Parameter ages: of the oldest in each queue, milliseconds by name.
    init(_ queues: [QueueStatus], ages: [String: Int64] = [:], at time: UnixTime) {
        self.timeMs = time.milliseconds
        var levels: [(delay: DelayLevel, messages: Int?, age: Int64?)] = []
        var work: [Lane: [QueueStatus]] = [:]
        var others: [Queue] = []
        for queue in queues {
            switch queue.role {
            case .work(_, let lane): work[lane, default: []].append(queue)
            case .delay(let level): levels.append((level, queue.depth?.messages, ages[queue.name]))
            case .dead: others.append(Queue("dead", queue, ages[queue.name]))
            case .feedback: others.append(Queue("feedback", queue, ages[queue.name]))
            case .suspect: others.append(Queue("suspect", queue, ages[queue.name]))
            case .receipts: others.append(Queue("receipts", queue, ages[queue.name]))
            case .unrouted: others.append(Queue("unrouted", queue, ages[queue.name]))
            }
        }
        self.levels = levels.sorted { $0.delay < $1.delay }.map { level in
            Level(
                name: level.delay.name,
                delayMs: level.delay.milliseconds,
                messages: level.messages,
                oldestMs: level.age
            )
        }
        let lanes = Lane.allCases.compactMap { lane in
            work[lane].map { queues in
                var queue = Queue(lane, queues)
                queue.oldestMs = queues.compactMap { ages[$0.name] }.max()
                return queue
            }
        }
        self.queues = lanes + others
    }
}

extension Ladder.Queue {
    fileprivate init(_ kind: String, _ queue: QueueStatus, _ age: Int64?) {
        self.init(
            name: queue.name,
            kind: kind,
            lane: nil,
            messages: queue.depth?.messages,
            consumers: queue.depth?.consumers,
            oldestMs: age
        )
    }

    /// The work queues of one lane together; a worker consumes each, so the most that one has are the consumers.
    fileprivate init(_ lane: Lane, _ queues: [QueueStatus]) {
        let depths = queues.compactMap(\.depth)
        self.init(
            name: "pushfleet.*.\(lane.rawValue)",
            kind: "work",
            lane: lane.rawValue,
            messages: depths.isEmpty ? nil : depths.reduce(0) { $0 + $1.messages },
            consumers: depths.map(\.consumers).max()
        )
    }
}
