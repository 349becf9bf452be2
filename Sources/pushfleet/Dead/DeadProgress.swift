internal import Desk
internal import Foundation
internal import Loop
internal import Push
internal import Synchronization

/// How far a job is, on standard error: one line that changes on a terminal, a line every ten seconds elsewhere.
final class DeadProgress: Sendable {
    private struct State {
        var next: MonotonicTime
        var width = 0
    }

    private let done: String
    private let isTerminal: Bool
    private let start: MonotonicTime
    private let state: Mutex<State>

    init(_ done: String, isTerminal: Bool, start: MonotonicTime) {
        self.done = done
        self.isTerminal = isTerminal
        self.start = start
        self.state = Mutex(State(next: start + (isTerminal ? .milliseconds(500) : .seconds(10))))
    }

    func tell(_ report: DeadLetterReport) {
        let now = MonotonicClock.now()
        self.state.withLock { state in
            guard now >= state.next else { return }
            state.next = now + (self.isTerminal ? .milliseconds(200) : .seconds(10))
            let line = Self.line(report, self.done, after: now - self.start)
            guard self.isTerminal else { return Terminal.say(line) }
            let padding = String(repeating: " ", count: max(0, state.width - line.count))
            state.width = line.count
            FileHandle.standardError.write(Data("\r\(line)\(padding)".utf8))
        }
    }

    /// Clears the line.
    func end() {
        self.state.withLock { state in
            guard state.width > 0 else { return }
            FileHandle.standardError.write(Data("\r\(String(repeating: " ", count: state.width))\r".utf8))
            state.width = 0
        }
    }

    static func line(_ report: DeadLetterReport, _ done: String, after time: Duration) -> String {
        let percent = report.total == 0 ? 100 : report.decided * 100 / report.total
        let rate = Double(report.decided) / max(0.001, Double(time.milliseconds) / 1000)
        var text = "\(done) \(report.done) of \(report.total) (\(percent) %), \(Int(rate)) a second"
        let stay = report.refused + report.failed
        if stay > 0 { text += ", \(stay) stay" }
        let left = report.total - report.decided
        if let blocked = report.blocked { return text + ", RabbitMQ takes nothing now: \(Quoted.text(blocked.utf8))" }
        if left > 0, rate > 0 { text += ", \(DurationText.spoken(.seconds(Int64(Double(left) / rate) + 1))) left" }
        return text
    }
}
