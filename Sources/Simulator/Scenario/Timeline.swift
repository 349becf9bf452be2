internal import Push

/// What happens when: a scenario's steps as a value. Times and counts go in, what to do comes out.
struct Timeline: Equatable, Sendable {
    /// From when on steps with a time are counted.
    enum Origin: String, CaseIterable, Sendable {
        case start
        case firstConnection = "first_connection"
        case firstRequest = "first_request"
    }

    /// What a step waits for.
    enum Trigger: Equatable, Sendable {
        /// So long after the origin.
        case time(Duration)
        /// Until so many were seen since the start or the last reset.
        case count(Counter, Int)
    }

    enum Counter: String, CaseIterable, Sendable {
        case requests, accepted, connections
    }

    /// What has been seen since the start or the last reset.
    struct Seen: Equatable, Sendable {
        var requests = 0
        var accepted = 0
        /// Opened, not open.
        var connections = 0

        subscript(counter: Counter) -> Int {
            switch counter {
            case .requests: self.requests
            case .accepted: self.accepted
            case .connections: self.connections
            }
        }
    }

    struct Repetition: Equatable, Sendable {
        var every: Duration
        /// The first time included; nil for ever.
        var times: Int?
    }

    struct Step: Equatable, Sendable {
        var trigger: Trigger
        /// In the order in which they are written.
        var orders: [ControlOrder]
        var repetition: Repetition?
    }

    let steps: [Step]
    let origin: Origin
    /// When the origin was; nil as long as it is not there yet.
    private(set) var beganAt: MonotonicTime?
    /// How often each step was done.
    private(set) var done: [Int]
    /// When each is due; nil when it waits for a count or for the origin, or is over.
    private var due: [MonotonicTime?]

    init(steps: [Step] = [], origin: Origin = .start) {
        self.steps = steps
        self.origin = origin
        self.done = steps.map { _ in 0 }
        self.due = steps.map { _ in nil }
    }

    /// Begins from the beginning.
    mutating func start(at now: MonotonicTime) {
        self = Timeline(steps: self.steps, origin: self.origin)
        if self.origin == .start { self.begin(at: now) }
    }

    private mutating func begin(at now: MonotonicTime) {
        self.beganAt = now
        for (index, step) in self.steps.enumerated() {
            if case .time(let time) = step.trigger { self.due[index] = now + time }
        }
    }

    /// Steps whose time has come, each with its place: first those that waited for a count, then by time; of one time
    /// in the order in which they are written.
    mutating func proceed(at now: MonotonicTime, seen: Seen) -> [Int] {
        if self.beganAt == nil, self.isOrigin(seen) { self.begin(at: now) }
        var calls: [Int] = []
        for (index, step) in self.steps.enumerated() where self.done[index] == 0 {
            guard case .count(let counter, let count) = step.trigger, seen[counter] >= count else { continue }
            calls.append(index)
            self.didCall(index, dueAt: now)
        }
        while let index = self.firstDue, let time = self.due[index], time <= now {
            calls.append(index)
            self.didCall(index, dueAt: time)
        }
        return calls
    }

    /// When the next step is due that waits for its time; nil when none does.
    var next: MonotonicTime? { self.firstDue.flatMap { self.due[$0] } }

    /// Whether anything waits for a count, so that it must be asked after every request.
    var isCounting: Bool {
        if self.beganAt == nil { return true }
        return zip(self.steps, self.done).contains { step, done in
            if case .count = step.trigger { done == 0 } else { false }
        }
    }

    /// Whether nothing is left to be done.
    var isOver: Bool { !self.isCounting && self.firstDue == nil }

    private func isOrigin(_ seen: Seen) -> Bool {
        switch self.origin {
        case .start: true
        case .firstConnection: seen.connections > 0
        case .firstRequest: seen.requests > 0
        }
    }

    private var firstDue: Int? {
        var first: (index: Int, time: MonotonicTime)?
        for (index, time) in self.due.enumerated() {
            if let time, first.map({ time < $0.time }) ?? true { first = (index, time) }
        }
        return first?.index
    }

    private mutating func didCall(_ index: Int, dueAt time: MonotonicTime) {
        self.done[index] += 1
        guard let repetition = self.steps[index].repetition, self.done[index] < repetition.times ?? .max else {
            self.due[index] = nil
            return
        }
        self.due[index] = time + repetition.every
    }
}
