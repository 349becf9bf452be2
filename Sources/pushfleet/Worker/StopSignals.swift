internal import Foundation
internal import UnixSignals

/// SIGTERM and SIGINT: the first asks for an orderly end, the second ends the process at once. SIGHUP, where it is
/// asked for, ends nothing.
enum StopSignals {
    /// Runs `body` with a stream that yields at the first signal.
    ///
    /// Whoever asks twice does not want to wait: the second signal is answered with exit code 1 and no clean-up.
    /// - Parameter onHangup: called at each SIGHUP; nil leaves that signal alone.
    static func run(
        onFirst: @Sendable @escaping (UnixSignal) -> Void,
        onHangup: (@Sendable () -> Void)? = nil,
        _ body: @Sendable @escaping (AsyncStream<Void>) async throws -> Void
    ) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let trapped: [UnixSignal] = [.sigterm, .sigint] + (onHangup == nil ? [] : [.sighup])
        let signals = await UnixSignalsSequence(trapping: trapped)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var count = 0
                for await signal in signals {
                    if signal == .sighup {
                        onHangup?()
                        continue
                    }
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
