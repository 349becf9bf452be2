internal import Broker
internal import Foundation
internal import Loop
internal import Push

/// Where `pushfleet send` takes its messages from, in batches.
struct MessageSource {
    /// A line that is not published, and why.
    struct Rejected: Equatable {
        /// Counts from 1.
        let line: Int
        let detail: String
    }

    enum Bodies {
        /// The same body so many times.
        case repeated([UInt8], Int)
        /// One body on each line.
        case lines(LineReader)
    }

    private var bodies: Bodies
    /// The app of the routing key; nil takes the body's.
    private let app: String?
    private let lane: Lane
    /// Whether bodies are published as they are, right or wrong.
    private let isRaw: Bool
    /// The one message's id; nil makes one for each.
    private let messageID: String?
    /// What ids begin with; a number follows. Nil makes them random.
    private let idPrefix: String?
    /// Apps that exist.
    private let apps: Set<String>
    /// Those whose workers shorten a payload that is too long.
    private let truncating: Set<String>
    /// Those whose payloads are checked.
    private let linted: Set<String>
    private var line = 0
    private(set) var rejected: [Rejected] = []

    init(
        _ bodies: Bodies,
        app: String?,
        lane: Lane,
        isRaw: Bool,
        messageID: String?,
        idPrefix: String?,
        apps: Set<String>,
        truncating: Set<String> = [],
        linted: Set<String> = []
    ) {
        self.bodies = bodies
        self.app = app
        self.lane = lane
        self.isRaw = isRaw
        self.messageID = messageID
        self.idPrefix = idPrefix
        self.apps = apps
        self.truncating = truncating
        self.linted = linted
    }

    /// The next messages, at most `limit`, and whether there may be more.
    mutating func next(upTo limit: Int) -> (messages: [Message], isAtEnd: Bool) {
        switch self.bodies {
        case .repeated(let body, let left):
            let count = min(limit, left)
            self.bodies = .repeated(body, left - count)
            return ((0..<count).compactMap { _ in self.message(body) }, count == left)
        case .lines(var reader):
            let lines = reader.next(upTo: limit)
            self.bodies = .lines(reader)
            return (lines.compactMap { self.message($0) }, lines.count < limit)
        }
    }

    private mutating func message(_ body: [UInt8]) -> Message? {
        self.line += 1
        let app: String
        if self.isRaw {
            // The option is required then; a body may be anything.
            app = self.app ?? ""
        } else {
            do throws(Refusal) {
                let job = try self.decode(body)
                app = self.app ?? job.appName
                guard job.appName == app else {
                    return self.reject("app_mismatch: the body's app is \(job.appName), not \(app)")
                }
                guard self.apps.contains(app) else {
                    return self.reject("unknown_app: \(app) is not in the configuration")
                }
                if self.linted.contains(app), let finding = PayloadLint.first(in: job) { throw Refusal(finding) }
            } catch {
                let place = error.reason == .payloadLint ? error.field.map { "\($0): " } : nil
                return self.reject("\(error.reason.rawValue): \(place ?? "")\(error.detail)")
            }
        }
        let id = self.messageID ?? self.idPrefix.map { "\($0)\(self.line)" } ?? UUID().uuidString.lowercased()
        let properties = MessageProperties(messageID: Array(id.utf8), timestamp: WallClock.now())
        let message = Message(
            exchange: FleetTopology.exchange,
            routingKey: "\(app).\(self.lane.rawValue)",
            properties: properties,
            body: body
        )
        if let problem = message.problem { return self.reject("AMQP cannot carry it: \(problem)") }
        return message
    }

    /// What a worker of the body's app would make of it.
    private func decode(_ body: [UInt8]) throws(Refusal) -> Job {
        guard !self.truncating.isEmpty else { return try EnvelopeDecoder.decode(body: body) }
        let job = try EnvelopeDecoder.decode(body: body, fit: .truncate)
        guard job.isTruncated, !self.truncating.contains(job.appName) else { return job }
        return try EnvelopeDecoder.decode(body: body)
    }

    private mutating func reject(_ detail: String) -> Message? {
        self.rejected.append(Rejected(line: self.line, detail: detail))
        return nil
    }
}
