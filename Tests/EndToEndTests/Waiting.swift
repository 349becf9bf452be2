import Testing

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
        try await Task.sleep(for: .milliseconds(20))
    }
}

/// Asks until there is an answer.
func eventually<Value>(
    _ what: String,
    within limit: Duration = .seconds(60),
    find: () async throws -> Value?
) async throws -> Value {
    var found: Value?
    try await eventually(what, within: limit) {
        found = try await find()
        return found != nil
    }
    return try #require(found)
}

/// Runs `body`, but not for longer than the limit.
func within(_ limit: Duration, _ what: String, _ body: @escaping @Sendable () async -> Void) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
            await body()
            return true
        }
        group.addTask {
            try await Task.sleep(for: limit)
            return false
        }
        let isDone = try await group.next() ?? false
        group.cancelAll()
        if !isDone { throw TimedOut(description: "waited in vain until \(what)") }
    }
}
