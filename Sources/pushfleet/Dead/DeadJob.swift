internal import ArgumentParser
internal import Desk
internal import Foundation
internal import Loop
internal import Push
internal import Synchronization

/// A replay or a purge: progress while it runs, the sum at its end.
enum DeadJob {
    typealias Body = @Sendable (StopSwitch, @escaping @Sendable (DeadLetterReport) -> Void) async -> DeadLetterReport

    /// - Parameter done: what is done to letters, as a participle.
    static func run(_ done: String, _ body: @escaping Body) async throws -> DeadLetterReport {
        let stop = StopSwitch()
        let line = DeadProgress(done, isTerminal: isatty(STDERR_FILENO) == 1, start: MonotonicClock.now())
        let result = Mutex<DeadLetterReport?>(nil)
        try await StopSignals.run(
            onFirst: { _ in stop.stop() },
            { _ in
                let report = await body(stop) { line.tell($0) }
                result.withLock { $0 = report }
            }
        )
        line.end()
        guard let report = result.withLock({ $0 }) else { throw VerbFailure("the job came to no end") }
        return report
    }

    static func end(_ report: DeadLetterReport, _ done: String, isJSON: Bool) throws {
        if isJSON { try Terminal.print(ascii: DeadJobReport(report)) }
        for line in Self.lines(report, done) { Terminal.say(line) }
        guard report.isComplete else { throw ExitCode(1) }
    }

    static func lines(_ report: DeadLetterReport, _ done: String) -> [String] {
        var lines = ["\(done) \(report.done) of \(Count.letters(report.total))"]
        if report.refused > 0 {
            lines.append("\(report.refused) stay because workers would refuse them again; mend them with dead edit:")
            for problem in report.problems.prefix(10) {
                lines.append("  \(problem.count) × \(problem.refusal.sentence) (such as \(problem.example))")
            }
        }
        if report.failed > 0 {
            lines.append("\(report.failed) failed and stay: \(report.trouble ?? "RabbitMQ did not say why")")
        }
        if report.missing > 0 {
            lines.append("\(report.missing) were not there any more, or another reader holds them")
        }
        if let failure = report.failure { lines.append("it came to no end: \(failure); run it again for the rest") }
        if report.isStopped { lines.append("stopped; run it again for the rest") }
        return lines
    }
}

/// The same for programs.
struct DeadJobReport: Encodable, Equatable {
    struct Problem: Encodable, Equatable {
        let reason: String
        let field: String?
        let detail: String
        let count: Int
        let example: String
    }

    let total: Int
    let done: Int
    let refused: Int
    let failed: Int
    let missing: Int
    let stopped: Bool
    let error: String?
    let problems: [Problem]

    init(_ report: DeadLetterReport) {
        self.total = report.total
        self.done = report.done
        self.refused = report.refused
        self.failed = report.failed
        self.missing = report.missing
        self.stopped = report.isStopped
        self.error = report.failure?.description ?? report.trouble
        self.problems = report.problems.map {
            Problem(
                reason: $0.refusal.reason.rawValue,
                field: $0.refusal.field,
                detail: $0.refusal.detail,
                count: $0.count,
                example: "\($0.example)"
            )
        }
    }

    /// What would be done.
    init(_ plan: DeadPlan) {
        self.total = plan.letters
        self.done = 0
        self.refused = plan.refused
        self.failed = 0
        self.missing = 0
        self.stopped = false
        self.error = nil
        self.problems = []
    }
}
