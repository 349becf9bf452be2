import Loop
import Synchronization
import Wire

@testable import Store

/// A server that answers what a test wants, byte for byte.
final class FakeRedis: Sendable {
    /// What the test knows of one command: its words.
    typealias Answer = @Sendable (_ words: [String]) -> String?

    let port: Int
    private let thread: LoopThread
    private let seen = Mutex<(commands: [[String]], reads: Int)>(([], 0))

    /// - Parameter answer: what to send for a command; nil for the usual: OK, and a run id for INFO.
    init(_ answer: @escaping Answer) throws {
        let port = Mutex<UInt16>(0)
        let box = Box()
        self.thread = try LoopThread.start(name: "fake-redis") { loop in
            let listener = try! Listener(on: Endpoint(host: "127.0.0.1", port: 0), tls: nil, loop: loop) { make in
                let connection = Connection(answer: answer) { box.server?.record($0, reads: $1) }
                connection.transport = make(connection)
            }
            port.withLock { $0 = listener.port }
            box.listener = listener
        }
        self.port = Int(port.withLock { $0 })
        self.box = box
        box.server = self
    }

    deinit {
        let remote = self.thread.remote
        let box = self.box
        remote.post { box.listener?.close() }
    }

    private let box: Box

    /// Written once before anyone connects, except for the listener, which only the loop touches.
    private final class Box: @unchecked Sendable {
        weak var server: FakeRedis?
        var listener: Listener?
    }

    var commands: [[String]] { self.seen.withLock { $0.commands } }
    var reads: Int { self.seen.withLock { $0.reads } }

    private func record(_ commands: [[String]], reads: Int) {
        self.seen.withLock { seen in
            seen.commands += commands
            seen.reads += reads
        }
    }

    private final class Connection: TransportDelegate {
        var transport: Transport?
        private let reader = ReplyReader()
        private let answer: Answer
        private let record: ([[String]], Int) -> Void

        init(answer: @escaping Answer, record: @escaping ([[String]], Int) -> Void) {
            self.answer = answer
            self.record = record
        }

        func transportDidOpen(_: Transport) {}

        func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer) {
            try! self.reader.feed(bytes)
            var commands: [[String]] = []
            while let command = try! self.reader.next() {
                let words = (command.elements ?? []).compactMap(\.text)
                commands.append(words)
                let answer = self.answer(words) ?? Self.usual(words)
                transport.write(Array(answer.utf8))
            }
            self.record(commands, 1)
        }

        func transport(_: Transport, didClose _: TransportError) {
            self.transport = nil
        }

        private static func usual(_ words: [String]) -> String {
            guard words.first == "INFO" else { return "+OK\r\n" }
            let info = "# Server\r\nredis_version:7.0.15\r\nrun_id:fake\r\nuptime_in_seconds:7\r\n"
            return "$\(info.utf8.count)\r\n\(info)\r\n"
        }
    }
}
