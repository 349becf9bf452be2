package import Loop
internal import Push

/// Writes a worker's trail to Redis: one script call per flush, about once a second.
///
/// Nothing waits for it. While Redis is away, or slow, what does not fit the log is lost and counted.
package final class TrailFlush {
    /// Called before each flush by the clock: what is not over, but worth to be told, is appended then.
    package var beforeFlush: () -> Void = {}
    /// Why a flush failed, told when it begins and never again until one has worked.
    package var onRefusal: (String) -> Void = { _ in }

    private let client: RedisClient
    private let loop: EventLoop
    private let settings: TrailSettings
    private let log = TrailLog()
    private var names = TrailNames()
    /// Names that Redis knows, as far as we know.
    private var namesWritten = 0
    private var session: Session
    private var isSent = false
    private var timer: Deadline?
    /// Messages that were not written and that Redis was not told of yet.
    private var lost: Int64 = 0
    private var isRefused = false
    private var whenFlushed: [() -> Void] = []

    private struct Session {
        let number = UInt32.random(in: .min ... .max)
        let worker: String
    }

    /// Whether anything is written.
    package var isOn: Bool { self.settings.isOn }

    /// - Parameter worker: the worker's name, for people.
    package init(worker: String, settings: TrailSettings, client: RedisClient, on loop: EventLoop) {
        self.client = client
        self.settings = settings
        self.loop = loop
        self.session = Session(worker: worker)
    }

    // MARK: Taking down

    /// The number that stands for a text in records; the same each time.
    package func name(_ text: String) -> UInt16 { self.names.number(text) }

    /// Takes down what became of a message. Never fails and never waits.
    package func append(
        _ message: MessageTrace,
        id: [UInt8],
        tokens: UnsafeBufferPointer<TokenTrace>,
        earlier: [EarlierAnswer]
    ) {
        guard self.isOn else { return }
        if !self.log.append(message, id: id, tokens: tokens, earlier: earlier) { self.lost += 1 }
        if self.log.isFull { self.flush() }
    }

    // MARK: Flushing

    /// Begins to flush by the clock.
    package func start() {
        guard self.isOn, self.timer == nil else { return }
        self.timer = self.loop.after(self.settings.interval) { [weak self] in
            guard let self else { return }
            self.timer = nil
            self.start()
            self.beforeFlush()
            self.flush()
        }
    }

    /// Stops; `completion` comes when what was taken down so far is written, or cannot be.
    package func stop(_ completion: @escaping () -> Void) {
        self.timer?.cancel()
        self.timer = nil
        guard self.isOn else { return completion() }
        self.whenFlushed.append(completion)
        self.flush()
    }

    private func flush() {
        guard !self.isSent else { return }
        guard !self.log.isEmpty else { return self.report() }
        // Without a connection everything would be taken out only to be lost.
        guard self.client.server != nil else { return self.whenFlushed.isEmpty ? () : self.giveUp() }
        self.isSent = true
        let (messages, names, lost) = (Int64(self.log.messages), self.names.texts.count - 1, self.lost)
        let call = self.call()
        self.lost = 0
        self.client.run(call) { [weak self] in self?.answered($0, messages: messages, names: names, lost: lost) }
    }

    private func call() -> ScriptCall {
        let session = String(self.session.number, radix: 16)
        var call = ScriptCall(TrailScript.append, keys: [Keys.trailIndex, Keys.trailSession(session)])
        call.add(milliseconds: self.settings.keep)
        call.add(self.settings.maxMemory)
        call.add(self.lost)
        let isFirst = self.namesWritten == 0
        let new = self.names.texts.indices.dropFirst(1 + self.namesWritten)
        call.add(new.count + (isFirst ? 1 : 0))
        if isFirst {
            call.add("worker")
            call.add(self.session.worker)
        }
        for number in new {
            call.add(number)
            call.add(self.names.texts[number])
        }
        self.log.take(session: self.session.number) { list, element in
            withUnsafeBytes(of: TrailFormat.nameBytes(list)) { call.add($0) }
            call.add(element)
        }
        return call
    }

    private func answered(_ result: Result<RedisReply, RedisFailure>, messages: Int64, names: Int, lost: Int64) {
        self.isSent = false
        switch result {
        case .success(let reply):
            self.isRefused = false
            // Redis has lost the session, or part of it: all names once more.
            let known = reply.integer ?? 0
            self.namesWritten = known > names ? names : 0
        case .failure(let failure):
            self.lost += lost
            self.lost += messages
            if case .refused(let error) = failure, !self.isRefused {
                self.isRefused = true
                self.onRefusal(error.text)
            }
        }
        if self.log.isFull || (!self.whenFlushed.isEmpty && result.isSuccess) { self.flush() } else { self.report() }
    }

    private func giveUp() {
        self.lost += Int64(self.log.messages)
        self.log.clear()
        self.report()
    }

    private func report() {
        let waiting = self.whenFlushed
        self.whenFlushed = []
        for completion in waiting { completion() }
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
