package import Loop

/// Runs `body` on the thread of a new loop, and waits until it calls what it was given.
///
/// What `body` returns is kept until then. Expectations belong behind it, where the test's own task runs.
/// - Throws: `Stuck` when nothing was reported in 60 seconds.
package func onLoop<Result: Sendable>(
    of _: Result.Type = Result.self,
    _ body: @escaping @Sendable (EventLoop, _ report: @escaping (Result) -> Void) throws -> Any
) async throws -> Result {
    let (results, continuation) = AsyncThrowingStream.makeStream(of: Result.self)
    let thread = try LoopThread.start(name: "test") { loop in
        var kept: Any?
        loop.after(.seconds(60)) {
            _ = kept
            continuation.finish(throwing: Stuck())
            loop.stop()
        }
        loop.after(.zero) {
            do {
                kept = try body(loop) { result in
                    continuation.yield(result)
                    continuation.finish()
                    loop.stop()
                }
            } catch {
                continuation.finish(throwing: error)
                loop.stop()
            }
        }
    }
    defer { thread.join() }
    for try await result in results { return result }
    throw Stuck()
}

/// Nothing was reported in time.
package struct Stuck: Error {}
