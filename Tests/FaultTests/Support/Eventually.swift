/// Something that a test waited for did not come to be.
struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}

/// Looks again and again until `condition` holds.
/// - Returns: how long that took.
/// - Throws: ``NeverHappened``, when it does not within `limit`.
@discardableResult
func eventually(
    _ what: String,
    within limit: Duration = .seconds(60),
    _ condition: () async throws -> Bool
) async throws -> Duration {
    let start = ContinuousClock.now
    while true {
        if try await condition() { return ContinuousClock.now - start }
        guard ContinuousClock.now - start < limit else {
            throw NeverHappened(description: "not within \(limit): \(what)")
        }
        try await Task.sleep(for: .milliseconds(20))
    }
}

extension Duration {
    /// For the lines that tests print.
    var seconds: String {
        let milliseconds = self.components.seconds * 1000 + self.components.attoseconds / 1_000_000_000_000_000
        return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }
}
