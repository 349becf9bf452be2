import Loop
import Push
import Testing

@Suite struct EventLoopTests {
    @Test func `What another thread posts runs on the loop's thread, in order`() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let thread = try LoopThread.start(name: "test") { loop in
            let bound = LoopBound(loop, to: loop)
            for number in 0..<1000 {
                loop.remote.post {
                    #expect(bound.value.isCurrent)
                    continuation.yield(number)
                    if number == 999 {
                        continuation.finish()
                        bound.value.stop()
                    }
                }
            }
        }
        var seen: [Int] = []
        for await number in stream { seen.append(number) }
        thread.join()
        #expect(seen == Array(0..<1000))
    }
}
