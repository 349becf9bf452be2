import Foundation
import TestServers

/// An AMQP 0-9-1 field table, byte by byte, with shapes that no library would write.
struct RawTable: Sendable {
    private(set) var bytes: [UInt8] = []

    func text(_ name: String, _ value: String) -> RawTable {
        self.adding(name, "S", RawPublisher.number(UInt32(value.utf8.count)) + value.utf8)
    }

    func long(_ name: String, _ value: Int64) -> RawTable {
        self.adding(name, "l", RawPublisher.number(value))
    }

    func flag(_ name: String, _ value: Bool) -> RawTable {
        self.adding(name, "t", [value ? 1 : 0])
    }

    func table(_ name: String, _ value: RawTable) -> RawTable {
        self.adding(name, "F", value.sized)
    }

    func array(_ name: String, _ tables: [RawTable]) -> RawTable {
        let values = tables.flatMap { [UInt8(ascii: "F")] + $0.sized }
        return self.adding(name, "A", RawPublisher.number(UInt32(values.count)) + values)
    }

    /// The table with its length in front.
    var sized: [UInt8] { RawPublisher.number(UInt32(self.bytes.count)) + self.bytes }

    /// A moment in seconds since 1970.
    func time(_ name: String, _ seconds: UInt64) -> RawTable {
        self.adding(name, "T", RawPublisher.number(seconds))
    }

    /// A text under a name that need not be text, nor the text itself.
    func bytes(_ name: [UInt8], _ value: [UInt8]) -> RawTable {
        self.adding(name, "S", RawPublisher.number(UInt32(value.count)) + value)
    }

    private func adding(_ name: String, _ kind: Unicode.Scalar, _ value: [UInt8]) -> RawTable {
        self.adding(Array(name.utf8), kind, value)
    }

    private func adding(_ name: [UInt8], _ kind: Unicode.Scalar, _ value: [UInt8]) -> RawTable {
        var table = self
        table.bytes += [UInt8(name.count)] + name + [UInt8(ascii: kind)] + value
        return table
    }

    /// `{a: {a: {a: …}}}`; written from the inside, 7 bytes for each level.
    static func nested(_ depth: Int) -> RawTable {
        var levels: [UInt8] = []
        levels.reserveCapacity(depth * 7)
        for level in 0..<depth {
            // What is inside this table: all deeper levels.
            levels += [1, UInt8(ascii: "a"), UInt8(ascii: "F")] + RawPublisher.number(UInt32((depth - level - 1) * 7))
        }
        return RawTable(bytes: levels)
    }

    /// `{a: [[[…]]]}`; 5 bytes for each level.
    static func nestedArrays(_ depth: Int) -> RawTable {
        var levels: [UInt8] = [1, UInt8(ascii: "a")]
        for level in 0..<depth {
            levels += [UInt8(ascii: "A")] + RawPublisher.number(UInt32((depth - level - 1) * 5))
        }
        return RawTable(bytes: levels)
    }

    init() {}

    private init(bytes: [UInt8]) { self.bytes = bytes }
}

/// Publishes frames made by hand, for headers that no library would send.
final class RawPublisher {
    private let socket: LoopbackSocket
    private var received: [UInt8] = []

    init(port: Int, vhost: String) throws {
        guard let socket = LoopbackSocket.connected(to: port) else {
            throw NeverHappened(description: "nobody listens")
        }
        self.socket = socket
        try self.write(Array("AMQP".utf8) + [0, 0, 9, 1])
        try self.await(10, 10)
        let login = [0] + Array("guest".utf8) + [0] + Array("guest".utf8)
        try self.method(
            0,
            10,
            11,
            [0, 0, 0, 0] + Self.short("PLAIN") + Self.number(UInt32(login.count)) + login + Self.short("en_US")
        )
        try self.await(10, 30)
        try self.method(0, 10, 31, Self.number(UInt16(8)) + Self.number(UInt32(131_072)) + Self.number(UInt16(0)))
        try self.method(0, 10, 40, Self.short(vhost) + [0, 0])
        try self.await(10, 41)
        try self.method(1, 20, 10, [0])
        try self.await(20, 11)
        try self.method(1, 85, 10, [0])
        try self.await(85, 11)
    }

    func close() { self.socket.close(reset: false) }

    /// Publishes and waits for the confirm.
    func publish(
        exchange: String,
        routingKey: String,
        messageID: String,
        headers: RawTable = RawTable(),
        body: [UInt8]
    ) throws {
        try self.publish(
            exchange: exchange,
            routingKey: Array(routingKey.utf8),
            messageID: messageID,
            headers: headers,
            body: body
        )
    }

    /// The same with a routing key that need not be text.
    func publish(
        exchange: String,
        routingKey: [UInt8],
        messageID: String,
        headers: RawTable = RawTable(),
        body: [UInt8]
    ) throws {
        let key = [UInt8(routingKey.count)] + routingKey
        try self.method(1, 60, 40, Self.number(UInt16(0)) + Self.short(exchange) + key + [0])
        // Property flags: headers (bit 13), delivery mode (bit 12), message id (bit 7).
        let flags: UInt16 = 1 << 13 | 1 << 12 | 1 << 7
        let properties = headers.sized + [2] + Self.short(messageID)
        try self.frame(
            2,
            1,
            Self.number(UInt16(60)) + [0, 0] + Self.number(UInt64(body.count)) + Self.number(flags) + properties
        )
        try self.frame(3, 1, body)
        try self.await(60, 80)
    }

    private func method(_ channel: UInt16, _ group: UInt16, _ method: UInt16, _ arguments: [UInt8]) throws {
        try self.frame(1, channel, Self.number(group) + Self.number(method) + arguments)
    }

    private func frame(_ type: UInt8, _ channel: UInt16, _ content: [UInt8]) throws {
        try self.write(
            [type] + Self.number(channel) + Self.number(UInt32(content.count)) + content + [0xce]
        )
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let count = self.socket.write(rest) else { throw NeverHappened(description: "the broker hung up") }
            rest = rest.dropFirst(count)
            if count == 0 { _ = self.socket.wait(POLLOUT, .seconds(10)) }
        }
    }

    /// Reads until the broker says this; any other method but a heartbeat is an error.
    private func await(_ group: UInt16, _ method: UInt16) throws {
        while true {
            if let frame = self.takeFrame() {
                guard frame[0] == 1 else { continue }
                let said = (UInt16(frame[7]) << 8 | UInt16(frame[8]), UInt16(frame[9]) << 8 | UInt16(frame[10]))
                if said == (group, method) { return }
                throw NeverHappened(
                    description: "the broker said \(said): \(String(decoding: frame[11...], as: UTF8.self))"
                )
            }
            guard self.socket.wait(POLLIN, .seconds(20)) else {
                throw NeverHappened(description: "the broker is silent")
            }
            switch self.socket.read() {
            case .bytes(let bytes): self.received += bytes
            case .nothing: continue
            case .end, .failure: throw NeverHappened(description: "the broker hung up")
            }
        }
    }

    private func takeFrame() -> [UInt8]? {
        guard self.received.count >= 8 else { return nil }
        let size = self.received[3..<7].reduce(0) { $0 << 8 | Int($1) }
        guard self.received.count >= size + 8 else { return nil }
        let frame = Array(self.received[..<(size + 8)])
        self.received.removeFirst(size + 8)
        return frame
    }

    static func number(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private static func short(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
}
