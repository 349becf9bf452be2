internal import Foundation
internal import UnixSignals

/// SIGTERM and SIGINT: the first asks for an orderly end, the second ends the process at once.
enum StopSignals {
    /// Runs `body` with a stream that yields at the first signal.
    ///
    /// Whoever asks twice does not want to wait: the second signal is answered with exit code 1 and no clean-up.
    static func run(
        onFirst: @Sendable @escaping (UnixSignal) -> Void,
        _ body: @Sendable @escaping (AsyncStream<Void>) async throws -> Void
    ) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var count = 0
                for await signal in signals {
                    count += 1
                    guard count == 1 else { _exit(1) }
                    onFirst(signal)
                    continuation.yield()
                    continuation.finish()
                }
            }
            defer { group.cancelAll() }
            try await body(stream)
        }
    }
}
