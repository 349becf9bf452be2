import Foundation

/// One connection through a `FaultProxy`: two sockets and the bytes in between. Lives on the proxy's thread.
final class FaultLink {
    /// The faults in force during one turn of the proxy.
    struct Conditions {
        var blackHole: Set<FaultProxy.Direction>
        var frozen: Set<FaultProxy.Direction>
        /// In nanoseconds.
        var delay: UInt64
        /// Bytes a second; nil is no limit.
        var rate: Int?
    }

    /// One direction of the connection.
    private struct Pipe {
        var pending: [(due: UInt64, bytes: ArraySlice<UInt8>)] = []
        var pendingBytes = 0
        /// When the last byte leaves that has come so far; in nanoseconds.
        var busyUntil: UInt64 = 0
        /// The source has said all it had to say.
        var ended = false
        /// The end has been passed on.
        var finished = false
        /// How many more bytes may pass; `nil` is no limit.
        var allowance: Int?
        var forwarded = 0
        var swallowed = 0
        var reported = (forwarded: 0, swallowed: 0)
    }

    private static let capacity = 256 * 1024

    private let client: LoopbackSocket
    private let server: LoopbackSocket
    private var pipes: [FaultProxy.Direction: Pipe] = [.toServer: Pipe(), .toClient: Pipe()]
    private var resetWhenUsedUp = true
    private var wasBroken = false
    private(set) var isClosed = false
    /// Whether this one is frozen in both directions, whatever the others are.
    var isFrozen = false

    init(client: LoopbackSocket, server: LoopbackSocket) {
        self.client = client
        self.server = server
    }

    var lostBytes: Bool {
        self.pipes.values.contains { $0.swallowed > 0 || ($0.ended && !$0.finished && $0.pending.isEmpty) }
    }

    var nextDue: UInt64? {
        self.isFrozen ? nil : self.pipes.values.compactMap { $0.pending.first?.due }.min()
    }

    func allow(_ allowance: (bytes: Int, direction: FaultProxy.Direction, reset: Bool)?) {
        for direction in FaultProxy.Direction.allCases {
            self.pipes[direction]!.allowance = allowance?.direction == direction ? allowance?.bytes : nil
        }
        self.resetWhenUsedUp = allowance?.reset ?? true
    }

    /// Ends the connection as a fault; the proxy counts it.
    func `break`(reset: Bool) {
        guard !self.isClosed else { return }
        self.wasBroken = true
        self.close(reset: reset)
    }

    func report(_ counters: inout FaultProxy.Counters) {
        for direction in FaultProxy.Direction.allCases {
            var pipe = self.pipes[direction]!
            counters.forwarded[direction]! += pipe.forwarded - pipe.reported.forwarded
            counters.swallowed[direction]! += pipe.swallowed - pipe.reported.swallowed
            pipe.reported = (pipe.forwarded, pipe.swallowed)
            self.pipes[direction] = pipe
        }
        if self.isClosed && self.wasBroken { counters.broken += 1 }
    }

    /// What to poll for; a socket with nothing to wait for is left out, so that its hang-up does not spin the loop.
    func interest(_ conditions: Conditions) -> [pollfd] {
        guard !self.isFrozen else { return [] }
        let now = Self.now()
        var events: [Int32: Int32] = [:]
        for direction in FaultProxy.Direction.allCases where !conditions.frozen.contains(direction) {
            let pipe = self.pipes[direction]!
            if !pipe.ended && pipe.pendingBytes < Self.capacity && pipe.allowance != 0 {
                events[self.source(direction).fd, default: 0] |= POLLIN
            }
            if let first = pipe.pending.first, first.due <= now {
                events[self.sink(direction).fd, default: 0] |= POLLOUT
            }
        }
        return events.map { pollfd(fd: $0.key, events: Int16($0.value), revents: 0) }
    }

    /// Moves what can be moved without waiting.
    func move(_ conditions: Conditions) {
        guard !self.isFrozen else { return }
        for direction in FaultProxy.Direction.allCases where !conditions.frozen.contains(direction) {
            guard !self.isClosed else { return }
            self.read(direction, conditions)
            guard !self.isClosed else { return }
            self.write(direction, conditions)
        }
        if !self.isClosed && self.pipes.values.allSatisfy({ $0.finished }) { self.close(reset: false) }
    }

    private func read(_ direction: FaultProxy.Direction, _ conditions: Conditions) {
        var pipe = self.pipes[direction]!
        defer { self.pipes[direction] = pipe }
        while !pipe.ended && pipe.pendingBytes < Self.capacity && pipe.allowance != 0 {
            switch self.source(direction).read(
                upTo: min(conditions.rate == nil ? 65_536 : 1024, pipe.allowance ?? .max)
            ) {
            case .bytes(let bytes):
                if conditions.blackHole.contains(direction) {
                    pipe.swallowed += bytes.count
                    continue
                }
                if let allowance = pipe.allowance { pipe.allowance = allowance - bytes.count }
                var due = Self.now() + conditions.delay
                if let rate = conditions.rate {
                    pipe.busyUntil = max(pipe.busyUntil, due) + UInt64(bytes.count) * 1_000_000_000 / UInt64(rate)
                    due = pipe.busyUntil
                }
                pipe.pending.append((due, bytes[...]))
                pipe.pendingBytes += bytes.count
            case .end: pipe.ended = true
            case .nothing: return
            case .failure:
                self.close(reset: true)
                return
            }
        }
    }

    private func write(_ direction: FaultProxy.Direction, _ conditions: Conditions) {
        var pipe = self.pipes[direction]!
        defer { self.pipes[direction] = pipe }
        let sink = self.sink(direction)
        while let first = pipe.pending.first, first.due <= Self.now() {
            guard let count = sink.write(first.bytes) else {
                self.close(reset: true)
                return
            }
            pipe.forwarded += count
            pipe.pendingBytes -= count
            if count < first.bytes.count {
                pipe.pending[0].bytes = first.bytes.dropFirst(count)
                return
            }
            pipe.pending.removeFirst()
        }
        guard pipe.pending.isEmpty else { return }
        if pipe.allowance == 0 {
            self.break(reset: self.resetWhenUsedUp)
        } else if pipe.ended && !pipe.finished && !conditions.blackHole.contains(direction) {
            shutdown(sink.fd, Int32(SHUT_WR))
            pipe.finished = true
        }
    }

    private func close(reset: Bool) {
        self.isClosed = true
        self.client.close(reset: reset)
        self.server.close(reset: reset)
    }

    private func source(_ direction: FaultProxy.Direction) -> LoopbackSocket {
        direction == .toServer ? self.client : self.server
    }

    private func sink(_ direction: FaultProxy.Direction) -> LoopbackSocket {
        direction == .toServer ? self.server : self.client
    }

    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
