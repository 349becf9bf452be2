internal import Foundation
internal import Logging
internal import Worker

/// The one place where the verb `worker` meets the room `Worker`.
enum WorkerProcess {
    /// Runs one worker until it has drained.
    ///
    /// - Parameters:
    ///   - drain: yields once, when the worker shall stop taking messages, finish what is in flight and return.
    ///   - ready: to be called once, when the worker takes messages.
    /// - Throws: what makes going on pointless; the process then exits with 1.
    static func run(
        settings: FleetSettings,
        logger: Logger,
        drain: AsyncStream<Void>,
        ready: @escaping @Sendable () -> Void
    ) async throws {
        let worker = try Worker.start(
            settings,
            keys: try KeyFiles.read(settings.credentials),
            version: Version.current,
            host: ProcessInfo.processInfo.hostName,
            processID: ProcessInfo.processInfo.processIdentifier,
            logger: logger,
            onReady: ready
        )
        for await _ in drain { break }
        await worker.drain()
    }
}

/// The content of the key files, by the name of their credential.
enum KeyFiles {
    static func read(_ credentials: [CredentialSettings]) throws -> [String: String] {
        var keys: [String: String] = [:]
        for credential in credentials {
            keys[credential.name] = try String(contentsOfFile: credential.keyFile, encoding: .utf8)
        }
        return keys
    }
}
