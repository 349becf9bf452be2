import Testing

@testable import Dashboard

@Suite struct JobBoardTests {
    private struct Trouble: Error, CustomStringConvertible {
        let description = "the queue is gone"
    }

    @Test func `a job is shown from its begin to its end, and another one has to wait`() async throws {
        let board = JobBoard()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let job = try #require(
            await board.start(.replay, by: "lena", "all", total: 9, rate: 500) { tell in
                tell(JobBoard.Progress(done: 3))
                for await _ in gate { break }
                return JobBoard.Progress(done: 7, failed: 1, skipped: 1)
            }
        )
        #expect(job.state == .running && job.total == 9 && job.ratePerS == 500)
        #expect(await board.isBusy)
        #expect(await board.start(.purge, by: "tim", "all", total: 1, rate: nil) { _ in .init() } == nil)
        open.yield()
        while await board.isBusy { await Task.yield() }
        let ended = try #require(await board.report().items.first)
        #expect(ended.state == .done && ended.endedAtMs != nil)
        #expect((ended.done, ended.failed, ended.skipped) == (7, 1, 1))
        #expect(await board.start(.purge, by: "tim", "all", total: 1, rate: nil) { _ in .init() } != nil)
    }

    @Test func `a job that is stopped says what it has done, and one that fails says why`() async throws {
        let board = JobBoard()
        let job = try #require(
            await board.start(.purge, by: "lena", "all", total: 9, rate: nil) { _ in
                try? await Task.sleep(for: .seconds(3600))
                return JobBoard.Progress(done: 2)
            }
        )
        let stopped = try #require(await board.stop(job.id))
        #expect(stopped.state == .stopped && stopped.done == 2)
        // Once more is no error, and changes nothing.
        #expect(await board.stop(job.id) == stopped)
        #expect(await board.stop("nothing") == nil)
        _ = await board.start(.purge, by: "lena", "all", total: 9, rate: nil) { _ in throw Trouble() }
        while await board.isBusy { await Task.yield() }
        let failed = try #require(await board.report().items.first)
        #expect(failed.state == .failed && failed.error == "the queue is gone")
    }
}
