internal import Desk
internal import Push

/// What a job does.
struct DeadWork: Sendable {
    enum Deed: Sendable {
        case replay(ReplayRules, rate: Int)
        case purge
    }

    /// Why a job came to no end, for people.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let desk: DeadLetterDesk
    let ids: Set<DeadLetterID>
    /// Chosen by ids that no letter has.
    let gone: Int
    let deed: Deed
    let index: DeadIndex
    let source: FleetSource

    func run(_ tell: @escaping @Sendable (JobBoard.Progress) -> Void) async throws -> JobBoard.Progress {
        let stop = StopSwitch()
        let (gone, desk, ids) = (self.gone, self.desk, self.ids)
        // What the job looks at is held by it, so that RabbitMQ would count too few.
        await self.source.deadLettersAreHeld(await self.source.picture().deadLetters)
        let progress: @Sendable (DeadLetterReport) -> Void = { tell(Self.progress($0, gone: gone)) }
        let report = await withTaskCancellationHandler {
            switch self.deed {
            case .replay(let rules, let rate):
                await desk.replay(ids, rules: rules, rate: rate, stop: stop, progress: progress)
            case .purge: await desk.purge(ids, stop: stop, progress: progress)
            }
        } onCancel: {
            stop.stop()
        }
        await self.source.deadLettersAreHeld(nil)
        if report.isComplete { await self.index.remove(ids) } else { await self.index.forget() }
        await self.source.forget()
        tell(Self.progress(report, gone: gone))
        if let failure = report.failure { throw Failure(description: "\(failure)") }
        return Self.progress(report, gone: gone)
    }

    private static func progress(_ report: DeadLetterReport, gone: Int) -> JobBoard.Progress {
        JobBoard.Progress(
            done: report.done,
            failed: report.failed + report.refused,
            skipped: report.missing + gone,
            trouble: Self.trouble(report)
        )
    }

    private static func trouble(_ report: DeadLetterReport) -> String? {
        if let reason = report.blocked { return "RabbitMQ takes nothing now: \(reason)" }
        guard let most = report.problems.first else { return report.trouble }
        let letters = most.count == 1 ? "1 letter" : "\(most.count) letters"
        return "a worker would refuse \(letters) once more: \(most.refusal.detail)"
    }
}
