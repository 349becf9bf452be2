/// The apps that live in Redis, as they stand there: nobody has checked what their values say.
///
/// They are configuration, and so the only keys without a time to live: an app must not go because nobody touched it.
package struct StoredApps: Hashable, Sendable {
    /// Grows with every change; nil if nothing was ever put there, or Redis has lost it.
    package var version: Int64?
    /// By the app's id, the text that was put there; meant to be a JSON object.
    package var values: [String: String] = [:]
    /// Sealed credentials by the name that apps give them: the id of the app they are for.
    package var credentials: [String: String] = [:]
    /// Apps that were taken out on purpose, within the last 30 days. One that is in neither is lost, not removed.
    package var removed: Set<String> = []

    package init(version: Int64? = nil, values: [String: String] = [:], removed: Set<String> = []) {
        self.version = version
        self.values = values
        self.removed = removed
    }

    // MARK: Reading

    /// The one small value that tells whether there is anything new. Needs no right but to read.
    package static let versionQuestion = RedisCommand("GET", Keys.appsVersion)
    private static let question = RedisCommand("HGETALL", Keys.apps)
    private static let credentialsQuestion = RedisCommand("HGETALL", Keys.appCredentials)

    /// Reads all apps, after the version: what is read is that version or a later one, whose change then shows again.
    /// - Parameter mayLackCredentials: true for who only looks: without the right to read what is sealed it gets the rest.
    package static func read(
        from session: RedisSession,
        mayLackCredentials: Bool = false
    ) async throws(RedisFailure) -> StoredApps {
        let version = try await session.send(Self.versionQuestion)
        var apps = StoredApps(version: version.integer, try await session.send(Self.question))
        let credentials: RedisReply
        do throws(RedisFailure) {
            credentials = try await session.send(Self.credentialsQuestion)
        } catch {
            guard mayLackCredentials, case .refused(let refusal) = error, refusal.kind == .noPermission else {
                throw error
            }
            return apps
        }
        apps.credentials = (credentials.pairs ?? [:]).mapValues { $0.text ?? "" }
        return apps
    }

    /// - Parameter reply: to `HGETALL`.
    init(version: Int64?, _ reply: RedisReply) {
        self.version = version
        for (app, value) in reply.pairs ?? [:] {
            let text = value.text ?? ""
            if Self.isRemoval(text) {
                self.removed.insert(app)
            } else {
                self.values[app] = text
            }
        }
    }

    private static func isRemoval(_ text: String) -> Bool {
        guard text.hasPrefix("removed ") else { return false }
        return text.dropFirst(8).allSatisfy { $0.isASCII && $0.isNumber }
    }

    // MARK: Changing

    /// Puts an app there, or other values in place of those it has. May run twice without harm.
    /// - Parameter credential: sealed for it, in the same step; nil for the one that it has, or none.
    package static func put(_ app: String, _ value: String, credential: String? = nil) -> ScriptCall {
        var call = Self.call("put", app)
        call.add(value)
        if let credential { call.add(credential) }
        return call
    }

    /// Takes an app out, also one that is not there: workers that still run it let it go. May run twice without harm.
    package static func remove(_ app: String) -> ScriptCall {
        Self.call("remove", app)
    }

    /// What a change answers.
    package struct Outcome: Hashable, Sendable {
        package let version: Int64
        /// The value that was there; nil for none.
        package let before: String?

        package init?(_ reply: RedisReply) {
            guard let parts = reply.elements, parts.count == 2, let version = parts[0].integer,
                let before = parts[1].text
            else { return nil }
            self.version = version
            self.before = before.isEmpty ? nil : before
        }
    }

    private static func call(_ operation: String, _ app: String) -> ScriptCall {
        var call = ScriptCall(AppsScript.act, keys: [Keys.apps, Keys.appsVersion, Keys.appCredentials])
        call.add(operation)
        call.add(app)
        return call
    }
}
