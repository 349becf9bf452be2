/// What a test waited for did not come.
struct TimedOut: Error, CustomStringConvertible {
    let description: String
}

/// Asks again and again until the answer is yes. The limit is there to end a hung test, not to measure anything.
func eventually(
    _ what: String,
    within limit: Duration = .seconds(60),
    _ isTrue: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while true {
        if try await isTrue() { return }
        guard ContinuousClock.now < end else { throw TimedOut(description: "waited in vain until \(what)") }
        try await Task.sleep(for: .milliseconds(50))
    }
}
