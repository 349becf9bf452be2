internal import Broker
internal import Desk
internal import Push

/// What `pushfleet status` shows.
struct StatusReport: Encodable {
    struct Queue: Encodable {
        let name: String
        /// `work`, `delay`, `dead`, `feedback` or `unrouted`.
        let kind: String
        let app: String?
        let lane: String?
        /// Messages that no worker holds; missing if the queue does not exist.
        let messages: Int?
        let consumers: Int?
    }

    let queues: [Queue]

    init(queues: [QueueStatus]) {
        self.queues = queues.map(Queue.init)
    }

    func lines() -> [String] {
        var work = Table("app", "lane", ">waiting", ">consumers")
        for queue in self.queues where queue.kind == "work" {
            work.add(queue.app ?? "", queue.lane ?? "", Self.text(queue.messages), Self.text(queue.consumers))
        }
        var others = Table("queue", ">messages")
        // Delay queues that hold nothing say nothing.
        for queue in self.queues where queue.kind != "work" && (queue.kind != "delay" || queue.messages != 0) {
            others.add(queue.name, Self.text(queue.messages))
        }
        var lines = work.lines() + [""] + others.lines()
        if self.queues.contains(where: { $0.messages == nil }) {
            lines += ["", "Some queues do not exist: run pushfleet topology declare."]
        }
        return lines
    }

    private static func text(_ number: Int?) -> String { number.map(String.init) ?? "no queue" }
}

extension StatusReport.Queue {
    init(_ status: QueueStatus) {
        self.name = status.name
        self.messages = status.depth?.messages
        self.consumers = status.depth?.consumers
        switch status.role {
        case .work(let app, let lane):
            (self.kind, self.app, self.lane) = ("work", app.name, lane.rawValue)
        case .delay: (self.kind, self.app, self.lane) = ("delay", nil, nil)
        case .dead: (self.kind, self.app, self.lane) = ("dead", nil, nil)
        case .feedback: (self.kind, self.app, self.lane) = ("feedback", nil, nil)
        case .unrouted: (self.kind, self.app, self.lane) = ("unrouted", nil, nil)
        }
    }
}
