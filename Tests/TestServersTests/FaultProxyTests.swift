import Foundation
import TestServers
import Testing

/// A client and a server with the proxy in between; everything runs on the test's own thread.
private struct Pair {
    let listener: LoopbackSocket
    let proxy: FaultProxy
    let client: LoopbackSocket
    let server: LoopbackSocket

    init() throws {
        let port = Int(try Repository.script("free-ports", ["1"]).trimmingCharacters(in: .newlines))!
        self.listener = try .listening(on: port)
        self.proxy = try FaultProxy(to: port)
        self.client = try #require(.connected(to: self.proxy.port))
        #expect(self.listener.wait(POLLIN, .seconds(10)))
        self.server = try #require(self.listener.accept())
    }

    func close() {
        self.proxy.stop()
        for socket in [self.client, self.server, self.listener] { socket.close(reset: false) }
    }

    /// Reads until `count` bytes are there, or the stream ends, or nothing comes any more.
    static func receive(_ socket: LoopbackSocket, _ count: Int) -> (bytes: [UInt8], last: LoopbackSocket.Received) {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard socket.wait(POLLIN, .seconds(10)) else { return (bytes, .nothing) }
            switch socket.read() {
            case .bytes(let more): bytes += more
            case .nothing: continue
            case let other: return (bytes, other)
            }
        }
        return (bytes, .nothing)
    }

    static func ending(_ socket: LoopbackSocket) -> LoopbackSocket.Received {
        self.receive(socket, .max).last
    }
}

@Suite("Fault proxy")
struct FaultProxyTests {
    @Test("passes bytes and ends in both directions, and counts them")
    func passes() throws {
        let pair = try Pair()
        defer { pair.close() }
        #expect(pair.client.write([1, 2, 3]) == 3)
        #expect(Pair.receive(pair.server, 3).bytes == [1, 2, 3])
        #expect(pair.server.write([4, 5]) == 2)
        #expect(Pair.receive(pair.client, 2).bytes == [4, 5])
        shutdown(pair.client.fd, Int32(SHUT_WR))
        #expect(Pair.ending(pair.server) == .end)
        #expect(pair.server.write([6]) == 1)
        #expect(Pair.receive(pair.client, 1).bytes == [6])
        let counters = pair.proxy.counters
        #expect(counters.accepted == 1 && counters.open == 1 && counters.broken == 0)
        #expect(counters.forwarded == [.toServer: 3, .toClient: 3])
    }

    @Test("passes megabytes unchanged")
    func passesMuch() throws {
        let pair = try Pair()
        defer { pair.close() }
        let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) }
        var rest = sent[...]
        var received: [UInt8] = []
        while received.count < sent.count {
            if !rest.isEmpty { rest = rest.dropFirst(try #require(pair.client.write(rest))) }
            if rest.isEmpty { _ = pair.server.wait(POLLIN, .seconds(10)) }
            if case .bytes(let more) = pair.server.read() { received += more }
        }
        #expect(received == sent)
    }

    @Test("a cut resets both sides")
    func cuts() throws {
        let pair = try Pair()
        defer { pair.close() }
        pair.proxy.cut()
        #expect(Pair.ending(pair.client) == .failure(ECONNRESET))
        #expect(Pair.ending(pair.server) == .failure(ECONNRESET))
        #expect(pair.proxy.counters.broken == 1 && pair.proxy.counters.open == 0)
    }

    @Test("a black hole takes bytes in one direction only; after it, the connection is reset")
    func blackHole() throws {
        let pair = try Pair()
        defer { pair.close() }
        pair.proxy.blackHole(.toServer)
        #expect(pair.client.write([1, 2, 3]) == 3)
        #expect(pair.server.write([4]) == 1)
        #expect(Pair.receive(pair.client, 1).bytes == [4])
        while pair.proxy.counters.swallowed[.toServer] != 3 { sched_yield() }
        #expect(pair.server.read() == .nothing)
        pair.proxy.pass()
        #expect(Pair.ending(pair.client) == .failure(ECONNRESET))
    }

    @Test("a frozen direction keeps its bytes until it passes again")
    func freezes() throws {
        let pair = try Pair()
        defer { pair.close() }
        pair.proxy.freeze(.toServer)
        #expect(pair.client.write([1, 2, 3]) == 3)
        #expect(pair.server.write([4]) == 1)
        #expect(Pair.receive(pair.client, 1).bytes == [4])
        #expect(pair.proxy.counters.forwarded[.toServer] == 0)
        pair.proxy.pass()
        #expect(Pair.receive(pair.server, 3).bytes == [1, 2, 3])
    }

    @Test("refuses new connections, keeps old ones, and accepts again on the same port")
    func refuses() throws {
        let pair = try Pair()
        defer { pair.close() }
        pair.proxy.refuse()
        #expect(LoopbackSocket.connected(to: pair.proxy.port) == nil)
        #expect(pair.client.write([1]) == 1)
        #expect(Pair.receive(pair.server, 1).bytes == [1])
        pair.proxy.pass()
        let again = try #require(LoopbackSocket.connected(to: pair.proxy.port))
        again.close(reset: false)
    }

    @Test("carries so many bytes and then ends the connection", arguments: [true, false])
    func closesAfter(reset: Bool) throws {
        let pair = try Pair()
        defer { pair.close() }
        pair.proxy.close(after: 5, .toServer, reset: reset)
        #expect(pair.client.write([1, 2, 3]) == 3)
        #expect(Pair.receive(pair.server, 3).bytes == [1, 2, 3])
        #expect(pair.client.write([4, 5, 6, 7]) == 4)
        let (bytes, last) = Pair.receive(pair.server, 100)
        #expect(bytes == [4, 5])
        #expect(last == (reset ? .failure(ECONNRESET) : .end))
        #expect(pair.proxy.counters.forwarded[.toServer] == 5)
        #expect(pair.proxy.counters.broken == 1)
    }

    @Test("delays bytes by at least the time asked for, in order")
    func delays() throws {
        let pair = try Pair()
        defer { pair.close() }
        pair.proxy.delay(.milliseconds(120))
        let start = ContinuousClock.now
        #expect(pair.client.write([1, 2]) == 2)
        #expect(pair.client.write([3]) == 1)
        #expect(Pair.receive(pair.server, 3).bytes == [1, 2, 3])
        #expect(ContinuousClock.now - start >= .milliseconds(120))
    }

    @Test("resets the client when there is no server")
    func noServer() throws {
        let ports = try Repository.script("free-ports", ["1"]).trimmingCharacters(in: .newlines)
        let proxy = try FaultProxy(to: Int(ports)!)
        defer { proxy.stop() }
        // The reset may be there before connecting is done.
        guard let client = LoopbackSocket.connected(to: proxy.port) else { return }
        defer { client.close(reset: false) }
        #expect(Pair.ending(client) == .failure(ECONNRESET))
    }
}
