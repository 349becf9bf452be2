import Foundation

/// A TCP proxy between a client and a server on 127.0.0.1 that breaks connections on demand.
///
/// Faults are set from the test's thread and are in force when the call returns. They hold for open and for new
/// connections until `pass()`. The counters prove that a fault hit.
package final class FaultProxy: @unchecked Sendable {
    /// Which way bytes travel.
    package enum Direction: Sendable, CaseIterable {
        case toServer
        case toClient
    }

    /// What the proxy has seen since it started.
    package struct Counters: Sendable, Equatable {
        /// Connections accepted from clients.
        package var accepted = 0
        /// Connections open now.
        package var open = 0
        /// Connections that the proxy reset, or closed after their bytes were used up.
        package var broken = 0
        /// Bytes forwarded, by direction.
        package var forwarded: [Direction: Int] = [.toServer: 0, .toClient: 0]
        /// Bytes that a black hole took, by direction.
        package var swallowed: [Direction: Int] = [.toServer: 0, .toClient: 0]
    }

    private struct Settings {
        var blackHole: Set<Direction> = []
        var frozen: Set<Direction> = []
        var refusing = false
        var delay: UInt64 = 0
        var rate: Int?
        var allowance: (bytes: Int, direction: Direction, reset: Bool)?
        /// Orders given once; the loop compares them with what it has carried out.
        var cuts = 0
        var allowances = 0
        var passes = 0
        var freezes = 0
        var frozenLinks = 0
        var stopped = false
    }

    /// The port that clients connect to.
    package let port: Int
    private let serverPort: Int
    private let bell: (read: Int32, write: Int32)
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var settings = Settings()
    private var ordered = 0
    private var carriedOut = 0
    private var seen = Counters()

    /// Starts a proxy in front of 127.0.0.1:`serverPort`, on `port` or a free one.
    package init(to serverPort: Int, port: Int? = nil) throws {
        let chosen: Int
        if let port {
            chosen = port
        } else {
            let printed = try Repository.script("free-ports", ["1"])
            chosen = Int(printed.trimmingCharacters(in: .whitespacesAndNewlines))!
        }
        self.port = chosen
        self.serverPort = serverPort
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "no more files")
        self.bell = (ends[0], ends[1])
        for fd in ends { LoopbackSocket.prepare(fd) }
        let listener = try LoopbackSocket.listening(on: chosen)
        // The thread holds the proxy, so the proxy lives until `stop()`.
        let thread = Thread { self.run(listener) }
        thread.name = "fault-proxy"
        thread.start()
    }

    /// What the proxy has seen so far, including every byte that a client or server has already received.
    package var counters: Counters {
        // One turn of the loop: what it has moved is counted before it answers.
        self.change { _ in }
        return self.condition.withLock { self.seen }
    }

    /// Ends all faults. Connections that lost bytes in a black hole are reset: their streams have holes.
    package func pass() {
        self.change { settings in
            let done = settings
            settings = Settings()
            settings.cuts = done.cuts
            settings.allowances = done.allowances
            settings.passes = done.passes + 1
            settings.freezes = done.freezes
        }
    }

    /// Takes bytes of these directions and forwards none of them, not even the end of the stream.
    package func blackHole(_ directions: Direction...) {
        self.change { $0.blackHole = directions.isEmpty ? [.toServer, .toClient] : Set(directions) }
    }

    /// Reads nothing in these directions, until buffers are full and the sender stalls. `pass()` loses no byte.
    package func freeze(_ directions: Direction...) {
        self.change { $0.frozen = directions.isEmpty ? [.toServer, .toClient] : Set(directions) }
    }

    /// Reads nothing on the oldest open connections, in both directions; the others go on. `pass()` loses no byte.
    package func freezeOldest(_ count: Int) {
        self.change {
            $0.frozenLinks = count
            $0.freezes += 1
        }
    }

    /// Resets all open connections, once, on both sides.
    package func cut() {
        self.change { $0.cuts += 1 }
    }

    /// Refuses new connections; open ones go on.
    package func refuse() {
        self.change { $0.refusing = true }
    }

    /// Lets every connection carry this many more bytes in one direction, then resets or closes it.
    package func close(after bytes: Int, _ direction: Direction, reset: Bool = true) {
        self.change {
            $0.allowance = (bytes, direction, reset)
            $0.allowances += 1
        }
    }

    /// Delays every byte in both directions.
    package func delay(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        self.change { $0.delay = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000) }
    }

    /// Lets through this many bytes a second at most, in each direction of each connection.
    package func throttle(_ bytesPerSecond: Int) {
        self.change { $0.rate = bytesPerSecond }
    }

    /// Resets everything and ends the proxy.
    package func stop() {
        self.change { $0.stopped = true }
    }

    private func change(_ body: (inout Settings) -> Void) {
        self.condition.lock()
        defer { self.condition.unlock() }
        guard !self.settings.stopped else { return }
        body(&self.settings)
        self.ordered += 1
        let order = self.ordered
        var ring: UInt8 = 1
        Foundation.write(self.bell.write, &ring, 1)
        while self.carriedOut < order { self.condition.wait() }
    }

    // MARK: The proxy's own thread

    private func run(_ first: LoopbackSocket) {
        var listener: LoopbackSocket? = first
        var links: [FaultLink] = []
        var counters = Counters()
        var (cuts, allowances, passes, freezes) = (0, 0, 0, 0)

        while true {
            let (settings, order) = self.condition.withLock { (self.settings, self.ordered) }
            if settings.cuts > cuts || settings.stopped {
                for link in links { link.break(reset: true) }
            }
            if settings.passes > passes {
                for link in links where link.lostBytes { link.break(reset: true) }
                for link in links {
                    link.allow(nil)
                    link.isFrozen = false
                }
            }
            if settings.freezes > freezes {
                for link in links.prefix(settings.frozenLinks) { link.isFrozen = true }
            }
            if settings.allowances > allowances {
                for link in links { link.allow(settings.allowance) }
            }
            (cuts, allowances, passes) = (settings.cuts, settings.allowances, settings.passes)
            freezes = settings.freezes
            if settings.refusing || settings.stopped {
                listener?.close(reset: false)
                listener = nil
            } else if listener == nil {
                listener = try? .listening(on: self.port)
            }
            Self.collect(&links, into: &counters)
            self.condition.withLock {
                self.seen = counters
                self.carriedOut = order
                self.condition.broadcast()
            }
            if settings.stopped { break }

            let conditions = FaultLink.Conditions(
                blackHole: settings.blackHole,
                frozen: settings.frozen,
                delay: settings.delay,
                rate: settings.rate
            )
            self.wait(listener, links, conditions)
            if let listener {
                while let client = listener.accept() {
                    counters.accepted += 1
                    guard let server = LoopbackSocket.connected(to: self.serverPort) else {
                        client.close(reset: true)
                        continue
                    }
                    let link = FaultLink(client: client, server: server)
                    link.allow(settings.allowance)
                    links.append(link)
                }
            }
            for link in links { link.move(conditions) }
            Self.collect(&links, into: &counters)
            self.condition.withLock { self.seen = counters }
        }
        Foundation.close(self.bell.read)
        Foundation.close(self.bell.write)
    }

    private static func collect(_ links: inout [FaultLink], into counters: inout Counters) {
        for link in links { link.report(&counters) }
        links.removeAll { $0.isClosed }
        counters.open = links.count
    }

    /// Sleeps until a socket is ready, a delayed byte is due, or the test changes something.
    private func wait(_ listener: LoopbackSocket?, _ links: [FaultLink], _ conditions: FaultLink.Conditions) {
        var fds = [pollfd(fd: self.bell.read, events: Int16(POLLIN), revents: 0)]
        if let listener { fds.append(pollfd(fd: listener.fd, events: Int16(POLLIN), revents: 0)) }
        var timeout: UInt64?
        for link in links {
            fds += link.interest(conditions)
            if let due = link.nextDue { timeout = min(timeout ?? .max, due) }
        }
        let now = FaultLink.now()
        // A listener that could not be opened again is tried anew.
        let limit = listener == nil ? 50 : -1
        let milliseconds = timeout.map { $0 > now ? Int32(($0 - now) / 1_000_000 + 1) : 0 } ?? Int32(limit)
        poll(&fds, nfds_t(fds.count), milliseconds)
        var rings = [UInt8](repeating: 0, count: 64)
        while Foundation.read(self.bell.read, &rings, rings.count) > 0 {}
    }
}
