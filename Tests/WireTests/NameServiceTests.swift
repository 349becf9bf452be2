import Foundation
import Loop
import Synchronization
import TestLoop
import TestServers
import Testing

@testable import Wire

/// Fault F63: names that do not exist, change, or have dead addresses; a resolver that hangs.
@Suite struct NameServiceTests {
    private static func address(_ last: Int, port: UInt16) -> SocketAddress {
        SocketAddress("127.0.0.\(last)", port: port)!
    }

    /// Connects to `name` once and reports the address that answered, by the server it belongs to.
    private static func connect(
        names: NameService,
        stagger: Duration = .milliseconds(50),
        timeout: Duration = .seconds(10)
    ) async throws -> TransportError? {
        try await onLoop(of: TransportError?.self) { loop, report in
            var settings = Transport.Settings()
            settings.names = names
            settings.connectStagger = stagger
            settings.connectTimeout = timeout
            let client = Recorder(to: 443, host: "apns.test", tls: nil, settings: settings, on: loop)
            client.onOpen = { _ in report(nil) }
            client.onClose = { report($1) }
            return client
        }
    }

    @Test func `A name that does not exist is told as such, and so is one without addresses`() async throws {
        let missing = TransportError.resolve(host: "apns.test", detail: "Name or service not known")
        #expect(try await Self.connect(names: NameService { _ in .failure(missing) }) == missing)
        let empty = try await Self.connect(names: NameService { _ in .success([]) })
        #expect(empty == .resolve(host: "apns.test", detail: "it has no address"))
    }

    @Test func `One dead of four addresses costs a moment, whether it refuses or is silent`() async throws {
        let silent = try FullListener()
        let server = try LoopbackSocket.listening(on: Self.freePort())
        defer { server.close(reset: false) }
        let alive = try #require(Self.port(of: server))
        defer { withExtendedLifetime(silent) {} }
        let refusing = try Self.freePort(UInt16.self)
        for dead in [Self.address(1, port: silent.port), Self.address(2, port: refusing)] {
            let asked = Mutex(0)
            let names = NameService { _ in
                asked.withLock { $0 += 1 }
                return .success([dead, Self.address(1, port: alive)])
            }
            // The turn moves on with each connection, so that two begin at the dead one.
            for _ in 0..<4 { #expect(try await Self.connect(names: names) == nil) }
            #expect(asked.withLock { $0 } == 4, "each connect looks the name up")
        }
    }

    @Test func `When all addresses are silent the deadline ends it, when all refuse the last error does`() async throws
    {
        let silent = try FullListener()
        let port = try Self.freePort(UInt16.self)
        defer { withExtendedLifetime(silent) {} }
        let address = Self.address(1, port: silent.port)
        let mute = NameService { _ in .success([address]) }
        let late = try await Self.connect(names: mute, timeout: .milliseconds(400))
        #expect(late == .timeout(stage: .connect))
        let closed = NameService { _ in .success((1...4).map { Self.address($0, port: port) }) }
        #expect(try await Self.connect(names: closed) == .connect(errno: 111))
    }

    @Test func `Addresses that change are followed at the next connect`() async throws {
        let first = try LoopbackSocket.listening(on: Self.freePort())
        let second = try LoopbackSocket.listening(on: Self.freePort())
        defer { second.close(reset: false) }
        let ports = try [first, second].map { try #require(Self.port(of: $0)) }
        let current = Mutex(ports[0])
        let names = NameService { _ in .success([Self.address(1, port: current.withLock { $0 })]) }
        #expect(try await Self.connect(names: names) == nil)
        first.close(reset: false)
        #expect(try await Self.connect(names: names) == .connect(errno: 111))
        current.withLock { $0 = ports[1] }
        #expect(try await Self.connect(names: names) == nil)
    }

    @Test
    func `A resolver that hangs ends with the deadline, keeps four threads at most, and answers all when it does`()
        async throws
    {
        let gate = NSCondition()
        let asked = Mutex(0)
        let isOpen = Mutex(false)
        let server = try LoopbackSocket.listening(on: Self.freePort())
        defer { server.close(reset: false) }
        let port = try #require(Self.port(of: server))
        let names = NameService { _ in
            asked.withLock { $0 += 1 }
            gate.withLock { while !isOpen.withLock({ $0 }) { gate.wait() } }
            return .success([Self.address(1, port: port)])
        }
        let endpoint = Endpoint(host: "hangs.test", port: 443)
        let count = 20
        let (timedOut, turns) = try await onLoop(of: (Int, Int).self) { loop, report in
            var (ended, turns) = (0, 0)
            var settings = Transport.Settings()
            settings.names = names
            settings.connectTimeout = .milliseconds(300)
            // The loop goes on meanwhile.
            func tick() {
                turns += 1
                loop.after(.milliseconds(5), tick)
            }
            tick()
            return (0..<count).map { _ in
                let client = Recorder(to: 443, host: "hangs.test", tls: nil, settings: settings, on: loop)
                client.onClose = { _, error in
                    if error == .timeout(stage: .resolve) { ended += 1 }
                    if ended == count { report((ended, turns)) }
                }
                return client
            }
        }
        #expect(timedOut == count)
        #expect(turns > 5)
        #expect(asked.withLock { $0 } == 4)
        #expect(Resolver.lookups(of: endpoint) == 4)
        // Who asks now waits for those; when they answer, so is he.
        let error = try await onLoop(of: TransportError?.self) { loop, report in
            var settings = Transport.Settings()
            settings.names = names
            let client = Recorder(to: 443, host: "hangs.test", tls: nil, settings: settings, on: loop)
            client.onOpen = { _ in report(nil) }
            client.onClose = { report($1) }
            loop.after(.milliseconds(50)) {
                isOpen.withLock { $0 = true }
                gate.withLock { gate.broadcast() }
            }
            return client
        }
        #expect(error == nil)
        #expect(asked.withLock { $0 } == 4, "the fifth got an answer without a lookup of its own")
    }

    @Test func `Connections take turns over the addresses, and the families alternate`() {
        let four = (1...4).map { Self.address($0, port: 1) }
        var turn = AddressTurn(first: .max)
        let firsts = (0..<8).map { _ in turn.order(four.shuffled(), of: "a")[0] }
        #expect(Set(firsts.prefix(4)) == Set(four))
        #expect(firsts.prefix(4) == firsts.suffix(4))
        let mixed = four.prefix(3) + [SocketAddress("::1", port: 1)!, SocketAddress("::2", port: 1)!]
        let order = turn.order(Array(mixed), of: "b")
        #expect(Set(order) == Set(mixed) && order.count == 5)
        #expect(order[0].family != order[1].family)
        let (none, one) = (turn.order([], of: "c"), turn.order([four[0], four[0]], of: "d"))
        #expect(none.isEmpty && one == [four[0]])
    }

    @Test func `Lookups for one name do not hold up another, and places come back`() {
        var desk = LookupDesk<Int>()
        let (one, two) = (Endpoint(host: "a", port: 1), Endpoint(host: "b", port: 1))
        let starts = (0..<6).map { desk.ask(one, $0) }
        #expect(starts == [true, true, true, true, false, false])
        let isOtherAsked = desk.ask(two, 9)
        #expect(isOtherAsked)
        let answered = [desk.ended(one), desk.ended(one)]
        #expect(answered == [[4, 5], []])
        #expect(desk.count(one) == 2)
        let isAskedAgain = desk.ask(one, 7)
        #expect(isAskedAgain)
    }

    private static func freePort<Number: BinaryInteger>(_: Number.Type = Int.self) throws -> Number {
        let text = try Repository.script("free-ports", ["1"]).trimmingCharacters(in: .whitespacesAndNewlines)
        return Number(try #require(Int(text)))
    }

    private static func port(of socket: LoopbackSocket) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.fd, $0, &length) }
        }
        return status == 0 ? UInt16(bigEndian: address.sin_port) : nil
    }
}
