internal import Loop
internal import Push

/// The streams of all viewers: what they have in common is made once for all.
actor EventHub {
    private struct Stream {
        let number: Int
        let visitor: Doorkeeper.Visitor
        let continuation: AsyncStream<String>.Continuation
    }

    private let source: FleetSource
    private let doorkeeper: Doorkeeper
    private let jobs: JobBoard
    private var streams: [Stream] = []
    private var last = 0
    private var hasStopped = false

    /// Streams of one session.
    private static let limit = 6
    private static let beat: Duration = .seconds(2)

    init(_ source: FleetSource, _ doorkeeper: Doorkeeper, jobs: JobBoard) {
        self.source = source
        self.doorkeeper = doorkeeper
        self.jobs = jobs
    }

    /// A new stream, which begins with everything.
    func open(_ visitor: Doorkeeper.Visitor) async -> AsyncStream<String> {
        // A viewer that does not read gets the newest when it does.
        let (stream, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(8))
        guard !self.hasStopped else {
            continuation.finish()
            return stream
        }
        self.last += 1
        let number = self.last
        continuation.onTermination = { _ in Task { await self.close(number) } }
        continuation.yield("retry: 2000\n\n")
        continuation.yield(Self.event("overview", Overview(await self.source.picture())))
        continuation.yield(Self.event("jobs", await self.jobs.report()))
        self.streams.append(Stream(number: number, visitor: visitor, continuation: continuation))
        let own = self.streams.filter { $0.visitor.streamKey == visitor.streamKey }
        if own.count > Self.limit { self.end(own[0]) }
        return stream
    }

    /// Tells everybody, until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while (try? await Task.sleep(for: Self.beat)) != nil { await self.tell() }
            }
            group.addTask {
                var told = 0
                while (try? await Task.sleep(for: .milliseconds(200))) != nil {
                    let version = await self.jobs.version
                    guard version != told else { continue }
                    told = version
                    await self.tellJobs()
                }
            }
        }
    }

    private func tell() async {
        let now = MonotonicClock.now()
        for stream in self.streams where !self.doorkeeper.isWelcome(stream.visitor, at: now) {
            stream.continuation.yield("event: session\ndata: {}\n\n")
            self.end(stream)
        }
        guard !self.streams.isEmpty else { return }
        let text = Self.event("overview", Overview(await self.source.picture()))
        self.yield(text)
    }

    /// To all, and no more to whoever has left meanwhile.
    private func yield(_ text: String) {
        self.streams.removeAll { stream in
            if case .terminated = stream.continuation.yield(text) { true } else { false }
        }
    }

    private func tellJobs() async {
        guard !self.streams.isEmpty else { return }
        self.yield(Self.event("jobs", await self.jobs.report()))
    }

    private func close(_ number: Int) { self.streams.removeAll { $0.number == number } }

    private func end(_ stream: Stream) {
        stream.continuation.finish()
        self.close(stream.number)
    }

    /// Ends all streams; a server that stops would wait for them.
    func stop() {
        self.hasStopped = true
        for stream in self.streams { stream.continuation.finish() }
        self.streams = []
    }

    /// JSON has no line breaks of its own, so one line holds it.
    static func event(_ name: String, _ value: some Encodable) -> String {
        "event: \(name)\ndata: \(String(decoding: Answer.encode(value), as: UTF8.self))\n\n"
    }
}
