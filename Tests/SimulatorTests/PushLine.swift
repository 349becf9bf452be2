import Foundation
import HTTP2
import Loop
import Push
import TestServers
import Wire

@testable import Simulator

/// A sender with one connection to a simulator, on a loop of its own.
final class PushLine: Sendable {
    enum Outcome: Equatable {
        case answer(status: Int, id: String?, uniqueID: String?, body: String)
        case failure(StreamFailure)

        var status: Int? {
            if case .answer(let status, _, _, _) = self { status } else { nil }
        }
    }

    /// What happened to the connection so far.
    struct History {
        var limits: [Int] = []
        var goAways: [GoAway] = []
        /// The last `retry-after`.
        var retryAfter: String?
        var closeReason: CloseReason?
    }

    private let thread: LoopThread
    private let end: LoopBound<End>

    private init(thread: LoopThread, end: LoopBound<End>) {
        self.thread = thread
        self.end = end
    }

    /// Begins to connect.
    static func start(
        port: UInt16,
        settings: HTTP2Client.Settings = HTTP2Client.Settings(),
        identity: TLSIdentity? = nil
    ) throws -> PushLine {
        let made = Locked<LoopBound<End>?>(nil)
        let thread = try LoopThread.start(name: "push-line") { loop in
            let end = End(port: port, settings: settings, identity: identity, loop: loop)
            made.withLock { $0 = LoopBound(end, to: loop) }
        }
        return PushLine(thread: thread, end: made.withLock { $0! })
    }

    /// Sends a push as soon as the connection allows, and waits for what becomes of it.
    func send(_ draft: PushDraft) async -> Outcome {
        await withCheckedContinuation { continuation in
            self.thread.remote.post { [end] in end.value.send(draft) { continuation.resume(returning: $0) } }
        }
    }

    /// Sends a push before anything that is sent later, and lets its outcome be awaited.
    func begin(_ draft: PushDraft) -> Task<Outcome, Never> {
        let (outcomes, outcome) = AsyncStream.makeStream(of: Outcome.self)
        self.thread.remote.post { [end] in end.value.send(draft) { outcome.yield($0) } }
        return Task {
            for await outcome in outcomes { return outcome }
            return .failure(.notProcessed(.neverSent))
        }
    }

    /// Sends pushes all at once.
    func send(_ drafts: [PushDraft]) async -> [Outcome] {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            for (index, draft) in drafts.enumerated() {
                group.addTask { (index, await self.send(draft)) }
            }
            var outcomes = [Outcome?](repeating: nil, count: drafts.count)
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes.compactMap { $0 }
        }
    }

    /// Waits until the connection is over.
    func history(untilClosed: Bool = true) async -> History {
        await withCheckedContinuation { continuation in
            self.thread.remote.post { [end] in
                end.value.tell(untilClosed: untilClosed) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Closes the connection and ends the loop.
    func stop() {
        self.thread.remote.post { [end] in end.value.stop() }
        self.thread.join()
    }

    private final class End: HTTP2ClientDelegate {
        private let loop: EventLoop
        private var client: HTTP2Client?
        private let headers = HeaderBlock()
        private var waiting: [(PushDraft, (Outcome) -> Void)] = []
        private var open: [UInt64: (Outcome) -> Void] = [:]
        private var count: UInt64 = 0
        private var history = History()
        private var listeners: [(History) -> Void] = []

        init(port: UInt16, settings: HTTP2Client.Settings, identity: TLSIdentity?, loop: EventLoop) {
            self.loop = loop
            var settings = settings
            settings.keptHeaders = ["apns-id", "apns-unique-id", "retry-after"]
            do {
                self.client = HTTP2Client(
                    to: Endpoint(host: "127.0.0.1", port: port),
                    tls: try TLSContext.client(
                        trusting: TestCertificates.shared.authority,
                        alpn: "h2",
                        identity: identity
                    ),
                    authority: "127.0.0.1:\(port)",
                    settings: settings,
                    on: loop,
                    delegate: self
                )
            } catch {
                fatalError("\(error)")
            }
        }

        func send(_ draft: PushDraft, _ outcome: @escaping (Outcome) -> Void) {
            self.waiting.append((draft, outcome))
            self.sendWaiting()
        }

        private func sendWaiting() {
            guard let client = self.client else { return }
            if self.history.closeReason != nil {
                let lost = self.waiting
                self.waiting = []
                for (_, outcome) in lost { outcome(.failure(.notProcessed(.neverSent))) }
            }
            while client.availableStreams > 0, !self.waiting.isEmpty {
                let (draft, outcome) = self.waiting.removeFirst()
                self.headers.removeAll()
                self.headers.append(name: ":method", value: draft.method)
                self.headers.append(name: ":path", value: draft.path)
                for (name, value) in draft.headers { self.headers.append(name: name, value: value) }
                self.count += 1
                self.open[self.count] = outcome
                client.submit(self.headers, body: Body(draft.body), context: self.count)
            }
        }

        func tell(untilClosed: Bool, _ listener: @escaping (History) -> Void) {
            guard untilClosed, self.history.closeReason == nil else { return listener(self.history) }
            self.listeners.append(listener)
        }

        func stop() {
            self.client?.close()
            self.loop.stop()
        }

        func http2DidBecomeReady(_ client: HTTP2Client) { self.sendWaiting() }

        func http2(_ client: HTTP2Client, didChangeStreamLimit limit: Int) {
            self.history.limits.append(limit)
            self.sendWaiting()
        }

        func http2(_ client: HTTP2Client, context: UInt64, didReceive response: HTTP2Response) {
            func text(_ bytes: UnsafeRawBufferPointer?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
            if let text = text(response.header(2)) { self.history.retryAfter = text }
            self.open.removeValue(forKey: context)?(
                .answer(
                    status: response.status,
                    id: text(response.header(0)),
                    uniqueID: text(response.header(1)),
                    body: text(response.body) ?? ""
                )
            )
        }

        func http2(_ client: HTTP2Client, context: UInt64, didFail failure: StreamFailure) {
            self.open.removeValue(forKey: context)?(.failure(failure))
        }

        func http2(_ client: HTTP2Client, didReceive goAway: GoAway) { self.history.goAways.append(goAway) }

        func http2HasFreeStreams(_ client: HTTP2Client) { self.sendWaiting() }

        func http2(_ client: HTTP2Client, didClose reason: CloseReason) {
            self.history.closeReason = reason
            self.sendWaiting()
            for listener in self.listeners { listener(self.history) }
            self.listeners = []
        }
    }
}
