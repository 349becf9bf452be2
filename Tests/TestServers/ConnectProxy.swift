import Foundation
import Synchronization

/// An HTTP proxy on 127.0.0.1 that makes tunnels with CONNECT, or does not. Whatever host is asked for, the tunnel
/// leads to 127.0.0.1.
package final class ConnectProxy: Sendable {
    package enum Behaviour: Sendable {
        case tunnel
        /// A tunnel, with the answer in pieces of one byte.
        case tunnelSlowly
        /// These bytes for an answer, and then the end.
        case answer(String)
        /// Takes the request and says nothing.
        case stall
    }

    package let port: Int
    private let behaviour: Behaviour
    private let heads = Mutex<[String]>([])
    private let isStopped = Mutex(false)
    private let carried = Mutex(0)

    package init(_ behaviour: Behaviour) throws {
        let printed = try Repository.script("free-ports", ["1"])
        self.port = Int(printed.trimmingCharacters(in: .whitespacesAndNewlines))!
        self.behaviour = behaviour
        let listener = try LoopbackSocket.listening(on: self.port)
        Self.onThread { self.accept(listener) }
    }

    /// The heads of all requests so far.
    package var requests: [String] { self.heads.withLock { $0 } }

    /// Bytes that went through tunnels, both ways.
    package var carriedBytes: Int { self.carried.withLock { $0 } }

    package func stop() {
        self.isStopped.withLock { $0 = true }
    }

    private var goesOn: Bool { !self.isStopped.withLock { $0 } }

    private static func onThread(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "connect-proxy"
        thread.start()
    }

    private func accept(_ listener: LoopbackSocket) {
        while self.goesOn {
            guard Self.wait([(listener, POLLIN)]) else { continue }
            while let client = listener.accept() { Self.onThread { self.serve(client) } }
        }
        listener.close(reset: false)
    }

    private func serve(_ client: LoopbackSocket) {
        defer { client.close(reset: false) }
        guard let head = self.head(from: client) else { return }
        self.heads.withLock { $0.append(head) }
        switch self.behaviour {
        case .stall: while self.goesOn { _ = Self.wait([]) }
        case .answer(let text): self.write(text, to: client, piece: .max)
        case .tunnel: self.tunnel(head, client, piece: .max)
        case .tunnelSlowly: self.tunnel(head, client, piece: 1)
        }
    }

    private func head(from client: LoopbackSocket) -> String? {
        var bytes: [UInt8] = []
        while self.goesOn {
            switch client.read() {
            case .bytes(let some): bytes += some
            case .nothing: _ = Self.wait([(client, POLLIN)])
            case .end, .failure: return nil
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasSuffix("\r\n\r\n") { return text }
        }
        return nil
    }

    private func tunnel(_ head: String, _ client: LoopbackSocket, piece: Int) {
        let target = head.split(separator: " ").dropFirst().first ?? ""
        guard let port = Int(target.split(separator: ":").last ?? ""),
            let server = LoopbackSocket.connected(to: port)
        else { return self.write("HTTP/1.1 502 Bad Gateway\r\n\r\n", to: client, piece: .max) }
        defer { server.close(reset: false) }
        self.write("HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n", to: client, piece: piece)
        while self.goesOn {
            _ = Self.wait([(client, POLLIN), (server, POLLIN)])
            for (source, sink) in [(client, server), (server, client)] {
                switch source.read() {
                case .bytes(let bytes):
                    self.carried.withLock { $0 += bytes.count }
                    guard self.write(bytes[...], to: sink) else { return }
                case .nothing: continue
                case .end, .failure: return
                }
            }
        }
    }

    private func write(_ text: String, to socket: LoopbackSocket, piece: Int) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty, self.write(rest.prefix(piece), to: socket) { rest = rest.dropFirst(piece) }
    }

    private func write(_ bytes: ArraySlice<UInt8>, to socket: LoopbackSocket) -> Bool {
        var rest = bytes
        while !rest.isEmpty, self.goesOn {
            guard let count = socket.write(rest) else { return false }
            rest = rest.dropFirst(count)
            if count == 0 { _ = Self.wait([(socket, POLLOUT)]) }
        }
        return rest.isEmpty
    }

    /// Waits for a short while, so that whoever waits sees the end.
    private static func wait(_ entries: [(socket: LoopbackSocket, events: Int32)]) -> Bool {
        var fds = entries.map { pollfd(fd: $0.socket.fd, events: Int16($0.events), revents: 0) }
        return poll(&fds, nfds_t(fds.count), 50) > 0
    }
}
