internal import Loop
internal import Push
internal import Synchronization
internal import Wire

/// Redis for code that is not on a loop, such as command-line verbs: a connection with a loop thread of its own.
package final class RedisSession: Sendable {
    private let client: LoopBound<RedisClient>
    private let remote: RemoteLoop
    private let thread: LoopThread

    /// No connection could be made; the text is the reason.
    package struct CannotOpen: Error, Hashable, Sendable, CustomStringConvertible {
        package let address: RedisAddress
        package let reason: String
        /// User and password were refused.
        package let authenticationFailed: Bool

        package var description: String { "cannot use \(self.address): \(self.reason)" }
    }

    private init(client: LoopBound<RedisClient>, thread: LoopThread) {
        self.client = client
        self.remote = thread.remote
        self.thread = thread
    }

    /// Connects and logs in.
    /// - Parameters:
    ///   - authorities: PEM file of the authorities to trust for `rediss`; nil for the system's.
    /// - Throws: ``CannotOpen`` after the first attempt that fails.
    package static func open(
        _ address: RedisAddress,
        trusting authorities: String? = nil,
        settings: RedisClient.Settings = RedisClient.Settings()
    ) async throws(CannotOpen) -> RedisSession {
        let session: RedisSession
        do {
            session = try Self.start(address, trusting: authorities, settings: settings)
        } catch {
            throw CannotOpen(address: address, reason: "\(error)", authenticationFailed: false)
        }
        let failure: CannotOpen? = await withCheckedContinuation { continuation in
            session.remote.post { session.begin { continuation.resume(returning: $0) } }
        }
        if let failure {
            session.close()
            throw failure
        }
        return session
    }

    /// Sends one command and waits for its answer.
    package func send(_ command: RedisCommand) async throws(RedisFailure) -> RedisReply {
        try await self.call { client, completion in client.send(command, completion) }
    }

    /// Sends commands at once and waits for all answers; in the order of the commands.
    package func send(_ commands: [RedisCommand]) async throws(RedisFailure) -> [RedisReply] {
        let client = self.client
        let result: Result<[RedisReply], RedisFailure> = await withCheckedContinuation { continuation in
            self.remote.post { client.value.send(commands) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Runs one script and waits for its answer.
    package func run(_ call: ScriptCall) async throws(RedisFailure) -> RedisReply {
        try await self.call { client, completion in client.run(call, completion) }
    }

    /// The server's process.
    package func server() async -> RedisServer? {
        await withCheckedContinuation { continuation in
            self.remote.post { continuation.resume(returning: self.client.value.server) }
        }
    }

    /// Closes the connection and ends the thread. Nothing may be sent afterwards.
    package func close() {
        let client = self.client
        self.remote.post {
            client.value.stop()
            client.value.loop.stop()
        }
        self.thread.join()
    }

    private func call(
        _ body: @escaping @Sendable (RedisClient, @escaping RedisClient.Completion) -> Void
    ) async throws(RedisFailure) -> RedisReply {
        let client = self.client
        let result: Result<RedisReply, RedisFailure> = await withCheckedContinuation { continuation in
            self.remote.post { body(client.value) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    private static func start(
        _ address: RedisAddress,
        trusting authorities: String?,
        settings: RedisClient.Settings
    ) throws -> RedisSession {
        let made = Made()
        let thread = try LoopThread.start(name: "redis") { loop in
            made.client.withLock { made in
                made = Result {
                    let tls = address.usesTLS ? try TLSContext.client(trusting: authorities) : nil
                    return LoopBound(RedisClient(address: address, tls: tls, settings: settings, on: loop), to: loop)
                }
                if case .failure = made { loop.remote.post { [stop = LoopBound(loop, to: loop)] in stop.value.stop() } }
            }
        }
        guard let client = made.client.withLock({ $0 }) else { preconditionFailure("a loop thread set nothing up") }
        return RedisSession(client: try client.get(), thread: thread)
    }

    /// Carries the client out of the thread that made it.
    private final class Made: Sendable {
        let client = Mutex<Result<LoopBound<RedisClient>, any Error>?>(nil)
    }

    /// Reports once: nil when ready, or why the first attempt failed.
    private func begin(_ report: @escaping (CannotOpen?) -> Void) {
        let client = self.client.value
        var report: ((CannotOpen?) -> Void)? = report
        client.observe { state in
            let failure: CannotOpen?
            switch state {
            case .connecting: return
            case .ready: failure = nil
            case .waiting(let reason):
                failure = CannotOpen(address: client.address, reason: reason, authenticationFailed: false)
            case .authenticationFailed(let reason):
                failure = CannotOpen(address: client.address, reason: reason, authenticationFailed: true)
            case .stopped:
                failure = CannotOpen(address: client.address, reason: "stopped", authenticationFailed: false)
            }
            report.take()?(failure)
        }
        client.start()
    }
}
