internal import Synchronization

/// Where the loop leaves its vitals, and any thread reads them.
final class VitalsBoard: Sendable {
    private struct Board {
        var vitals: WorkerVitals?
        var longestLag = Duration.zero
    }

    private let board = Mutex(Board())

    /// - Parameter lag: how late the loop came to do this.
    func post(_ vitals: WorkerVitals, lag: Duration) {
        self.board.withLock { board in
            board.vitals = vitals
            board.longestLag = max(board.longestLag, lag)
        }
    }

    var vitals: WorkerVitals? { self.board.withLock { $0.vitals } }

    /// The longest lag since this was last asked.
    func takeLag() -> Duration {
        self.board.withLock { board in
            defer { board.longestLag = .zero }
            return board.longestLag
        }
    }
}
