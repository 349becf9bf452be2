internal import Loop
internal import Synchronization

/// The way from any thread to the simulator's loop and back.
final class SimulatorDesk: Sendable {
    let ports: Simulator.Ports
    private let thread: LoopThread
    private let server: LoopBound<Server>
    /// Whether letters are still taken. Under this lock, so that none is put behind the one that stops the loop, where
    /// nobody would read it.
    private let isOpen = Mutex(true)

    private init(ports: Simulator.Ports, thread: LoopThread, server: LoopBound<Server>) {
        self.ports = ports
        self.thread = thread
        self.server = server
    }

    /// Starts the loop's thread, and the server on it.
    static func start(_ settings: Simulator.Settings) throws -> SimulatorDesk {
        let outcome = Mutex<Result<(LoopBound<Server>, Simulator.Ports), any Error>?>(nil)
        let thread = try LoopThread.start(name: "simulator") { loop in
            let result = Result {
                let server = try Server(settings: settings, loop: loop)
                return (LoopBound(server, to: loop), server.ports)
            }
            if case .failure = result {
                let bound = LoopBound(loop, to: loop)
                loop.remote.post { bound.value.stop() }
            }
            outcome.withLock { $0 = result }
        }
        guard let result = outcome.withLock({ $0.take() }) else {
            preconditionFailure("the loop did not make its first call")
        }
        switch result {
        case .success((let server, let ports)):
            return SimulatorDesk(ports: ports, thread: thread, server: server)
        case .failure(let error):
            thread.join()
            throw error
        }
    }

    /// Has something done on the loop, and waits for what comes of it.
    func ask<Answer: Sendable>(_ body: @escaping @Sendable (Server) -> Answer) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            let server = self.server
            let isTaken = self.isOpen.withLock { isOpen in
                if isOpen { self.thread.remote.post { continuation.resume(returning: body(server.value)) } }
                return isOpen
            }
            if !isTaken { continuation.resume(throwing: SimulatorError("the simulator has been stopped")) }
        }
    }

    /// Ends the server and its thread.
    func stop() async {
        let isFirst = self.isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard isFirst else { return }
        await withCheckedContinuation { continuation in
            let server = self.server
            self.thread.remote.post {
                server.value.stop()
                continuation.resume()
            }
        }
        // The loop ends with the turn in which it was told to.
        self.thread.join()
    }
}
