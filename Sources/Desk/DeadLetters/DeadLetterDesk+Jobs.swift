internal import Broker
internal import Loop
internal import Push

/// Jobs on letters that somebody has looked at and chosen, by their ids: what dies meanwhile is never touched.
extension DeadLetterDesk {
    /// Publishes letters again, as they are, and takes each off the dead-letter queue when RabbitMQ has confirmed it.
    ///
    /// A letter that a worker would refuse stays, and the report says why. When the process dies in the middle, the next
    /// replay may publish a few once more; workers take only one of them, as long as they have Redis and the second
    /// comes within a day.
    /// - Parameters:
    ///   - rate: letters per second.
    ///   - stop: ends it early and in good order.
    ///   - progress: called now and then, on a thread of this call's.
    package func replay(
        _ ids: Set<DeadLetterID>,
        rules: ReplayRules,
        rate: Int,
        stop: StopSwitch = StopSwitch(),
        progress: @escaping @Sendable (DeadLetterReport) -> Void = { _ in }
    ) async -> DeadLetterReport {
        await self.carryOut(.replay(rules, rate: rate), ids, stop: stop, progress: progress)
    }

    /// Deletes letters for good.
    package func purge(
        _ ids: Set<DeadLetterID>,
        stop: StopSwitch = StopSwitch(),
        progress: @escaping @Sendable (DeadLetterReport) -> Void = { _ in }
    ) async -> DeadLetterReport {
        await self.carryOut(.purge, ids, stop: stop, progress: progress)
    }

    private struct Round: Sendable {
        let report: DeadLetterReport
        let met: Set<DeadLetterID>
        let isOver: Bool
        let failure: DeadLetterFailure?
    }

    private func carryOut(
        _ deed: DeadLetterRun.Deed,
        _ ids: Set<DeadLetterID>,
        stop: StopSwitch,
        progress: @escaping @Sendable (DeadLetterReport) -> Void
    ) async -> DeadLetterReport {
        var report = DeadLetterReport(total: ids.count)
        var left = ids
        var retries = 3
        let run = String(UInt64.random(in: .min ... .max), radix: 36)
        var round = 0
        while !left.isEmpty, !stop.isStopped {
            round += 1
            let result = await self.round(deed, left, "\(run).\(round)", report, stop, progress)
            report = result.report
            left.subtract(result.met)
            if let failure = result.failure {
                report.failure = failure
                break
            }
            if result.isOver { continue }
            // Another reader may give back what is missing.
            guard !left.isEmpty, !stop.isStopped, retries > 0 else { break }
            retries -= 1
            try? await Task.sleep(for: .milliseconds(300))
        }
        report.isStopped = stop.isStopped && !left.isEmpty
        if !report.isStopped, report.failure == nil { report.missing = left.count }
        report.problems.sort { $0.count > $1.count }
        return report
    }

    private func round(
        _ deed: DeadLetterRun.Deed,
        _ ids: Set<DeadLetterID>,
        _ mark: String,
        _ report: DeadLetterReport,
        _ stop: StopSwitch,
        _ progress: @escaping @Sendable (DeadLetterReport) -> Void
    ) async -> Round {
        let time = self.roundTime
        do throws(DeadLetterFailure) {
            return try await self.walk { loop, broker, timeout, answer in
                let run = DeadLetterRun(
                    deed,
                    ids: ids,
                    mark: mark,
                    report: report,
                    time: time,
                    stop: stop,
                    on: loop,
                    progress: progress
                )
                return DeadLetterWalk(broker, timeout: timeout, on: loop) { walk, delivery, place in
                    run.visit(walk, delivery, place)
                } finished: { result in
                    run.finish()
                    var failure: DeadLetterFailure?
                    if case .failure(let reason) = result { failure = reason }
                    let isOver = run.isRoundOver
                    answer(.success(Round(report: run.report, met: run.met, isOver: isOver, failure: failure)))
                }
            }
        } catch {
            return Round(report: report, met: [], isOver: false, failure: error)
        }
    }
}
