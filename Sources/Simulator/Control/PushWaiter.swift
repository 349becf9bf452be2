internal import Loop
internal import Push

/// Someone who waits for a push to a token.
final class PushWaiter {
    let token: [UInt8]
    /// Looks whether it has come, and tells whoever waits; true says that no more is to be waited for. With `isLast`
    /// it tells in any case.
    private let look: (_ server: Server, _ isLast: Bool) -> Bool
    private var deadline: Deadline?

    init(token: [UInt8], look: @escaping (_ server: Server, _ isLast: Bool) -> Bool) {
        self.token = token
        self.look = look
    }

    /// - Returns: whether it is done.
    func wake(_ server: Server, isLast: Bool) -> Bool {
        guard self.look(server, isLast) || isLast else { return false }
        self.deadline?.cancel()
        return true
    }

    func limit(to deadline: Deadline) {
        self.deadline = deadline
    }
}

extension Server {
    /// Has `look` called now, after every push to the token, and a last time when the time is over.
    func wait(
        for token: [UInt8],
        within limit: Duration,
        look: @escaping (_ server: Server, _ isLast: Bool) -> Bool
    ) {
        let waiter = PushWaiter(token: token, look: look)
        guard !waiter.wake(self, isLast: limit <= .zero) else { return }
        self.waiters.append(waiter)
        let deadline = self.loop.after(limit) { [weak self, weak waiter] in
            guard let self, let waiter else { return }
            self.waiters.removeAll { $0 === waiter }
            _ = waiter.wake(self, isLast: true)
        }
        waiter.limit(to: deadline)
    }

    /// A push to the token was judged.
    func wakeWaiters(for token: [UInt8]) {
        self.waiters.removeAll { $0.token == token && $0.wake(self, isLast: false) }
    }

    /// Nothing more will come.
    func endWaiting() {
        let waiters = self.waiters
        self.waiters = []
        for waiter in waiters { _ = waiter.wake(self, isLast: true) }
    }
}

extension SimulatorDesk {
    /// Waits until `find` finds something; it is asked at first, after every push to the token, and at the end of the
    /// time, when it must answer.
    func wait<Answer: Sendable>(
        for token: [UInt8],
        within limit: Duration,
        find: @escaping @Sendable (_ service: PushService, _ isLast: Bool) -> Answer?
    ) async throws -> Answer? {
        let (answers, yield) = AsyncStream.makeStream(of: Answer?.self)
        try await self.ask { server in
            server.wait(for: token, within: limit) { server, isLast in
                let answer = find(server.service, isLast)
                guard answer != nil || isLast else { return false }
                yield.yield(answer)
                yield.finish()
                return true
            }
        }
        for await answer in answers { return answer }
        return nil
    }
}
