import Loop
import Push
import Testing

@Suite struct DeadlineTests {
    @Test func `A deadline that renews itself without delay leaves other threads their turn`() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let thread = try LoopThread.start(name: "test") { loop in
            let bound = LoopBound(loop, to: loop)
            let remote = loop.remote
            var rounds = 0
            func again() {
                rounds += 1
                if rounds == 10 {
                    remote.post {
                        continuation.finish()
                        bound.value.stop()
                    }
                }
                loop.after(.zero, again)
            }
            again()
        }
        for await _ in stream {}
        thread.join()
    }

    @Test func `Deadlines fire in the order of their times, equal times in the order they were asked for`() async throws
    {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let delays = [3, 1, 2, 1, 0, 3, 0, 2]
        let thread = try LoopThread.start(name: "test") { loop in
            for (index, delay) in delays.enumerated() {
                loop.after(.milliseconds(delay)) { continuation.yield(index) }
            }
            loop.after(.milliseconds(1)) { Issue.record("a cancelled deadline fired") }.cancel()
            loop.after(.milliseconds(4)) {
                continuation.finish()
                loop.stop()
            }
        }
        var order: [Int] = []
        for await index in stream { order.append(index) }
        thread.join()
        #expect(order == [4, 6, 1, 3, 2, 7, 0, 5])
    }
}
