internal import Store
internal import Worker

/// Redis as a source of apps for one worker process, however many workers it has: asks for their version, and for all
/// of them when that is another one. While Redis is away there is no news.
actor AppSource {
    enum News: Equatable {
        case apps(StoredApps)
        /// The server behind the connection is another one than before and throws keys away.
        case evicts(RedisMemory)
        /// Redis refuses to tell; once until it answers again.
        case refused(String)
    }

    private let settings: FleetSettings
    private var session: RedisSession?
    private var server: String?
    /// Nil until Redis was asked for all.
    private var version: Int64??
    private var isRefused = false

    init(_ settings: FleetSettings) {
        self.settings = settings
    }

    /// Asks once.
    func look() async -> [News] {
        if self.session == nil { self.session = try? await self.settings.openRedis(for: "apps") }
        guard let session, let server = await session.server() else { return [] }
        var news: [News] = []
        do throws(RedisFailure) {
            if server.runID != self.server {
                let memory = RedisMemory(try await session.send(RedisMemory.question))
                if let memory, memory.evicts { news.append(.evicts(memory)) }
                self.server = server.runID
            }
            let version = try await session.send(StoredApps.versionQuestion).integer
            if self.version != .some(version) {
                let apps = try await StoredApps.read(from: session)
                self.version = .some(apps.version)
                news.append(.apps(apps))
            }
            self.isRefused = false
        } catch {
            if case .refused(let error) = error, !self.isRefused {
                self.isRefused = true
                news.append(.refused("\(error)"))
            }
        }
        return news
    }

    func close() {
        self.session?.close()
        self.session = nil
    }
}
