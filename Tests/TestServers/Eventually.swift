/// What a test waited for did not come to be.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

/// Asks again and again until the answer is yes. The limit is there to end a hung test, not to measure anything.
/// - Returns: how long that took.
/// - Throws: ``NeverHappened``, when it does not within `limit`.
@discardableResult
package func eventually(
    _ what: String,
    within limit: Duration = .seconds(60),
    _ isTrue: () async throws -> Bool
) async throws -> Duration {
    let start = ContinuousClock.now
    while true {
        if try await isTrue() { return ContinuousClock.now - start }
        guard ContinuousClock.now - start < limit else {
            throw NeverHappened(description: "not within \(limit): \(what)")
        }
        try await Task.sleep(for: .milliseconds(20))
    }
}

/// Asks until there is an answer.
package func eventually<Value>(
    _ what: String,
    within limit: Duration = .seconds(60),
    find: () async throws -> Value?
) async throws -> Value {
    var found: Value?
    try await eventually(what, within: limit) {
        found = try await find()
        return found != nil
    }
    guard let found else { preconditionFailure("an answer that was there is gone") }
    return found
}

/// Runs `body`, but not for longer than the limit.
package func within(_ limit: Duration, _ what: String, _ body: @escaping @Sendable () async -> Void) async throws {
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
        if !isDone { throw NeverHappened(description: "not within \(limit): \(what)") }
    }
}
