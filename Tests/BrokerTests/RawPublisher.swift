import CRabbitMQ
import Foundation
import TestServers

@testable import Broker

/// Publishes one message with a header table that no decent library would write, byte for byte.
enum RawPublisher {
    struct Refused: Error {}

    /// Says everything at once and waits for the confirm.
    static func publish(to queue: String, vhost: String, port: Int, table: [UInt8]) throws {
        let encoder = FrameEncoder()
        let arena = encoder.arena
        encoder.frameMax = 131_072
        encoder.protocolHeader()
        let login = arena.bytes([0] + Array("guest".utf8) + [0] + Array("guest".utf8))
        let startOK = amqp_connection_start_ok_t(
            client_properties: amqp_table_t(),
            mechanism: arena.short("PLAIN"),
            response: login,
            locale: arena.short("en_US")
        )
        encoder.method(AMQP_CONNECTION_START_OK_METHOD, channel: 0, startOK)
        let tuneOK = amqp_connection_tune_ok_t(channel_max: 10, frame_max: 131_072, heartbeat: 60)
        encoder.method(AMQP_CONNECTION_TUNE_OK_METHOD, channel: 0, tuneOK)
        let open = amqp_connection_open_t(
            virtual_host: arena.short(vhost),
            capabilities: amqp_bytes_t(),
            insist: 0
        )
        encoder.method(AMQP_CONNECTION_OPEN_METHOD, channel: 0, open)
        encoder.method(AMQP_CHANNEL_OPEN_METHOD, channel: 1, amqp_channel_open_t())
        encoder.method(AMQP_CONFIRM_SELECT_METHOD, channel: 1, amqp_confirm_select_t(nowait: 1))
        let publish = amqp_basic_publish_t(
            ticket: 0,
            exchange: amqp_bytes_t(),
            routing_key: arena.short(queue),
            mandatory: 0,
            immediate: 0
        )
        encoder.method(AMQP_BASIC_PUBLISH_METHOD, channel: 1, publish)
        // Class 60, weight 0, body size 4, the flag for headers and persistence, the table, delivery mode 2.
        let payload = [0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0x30, 0] + Self.number(table.count) + table + [2]
        encoder.append([2, 0, 1] + Self.number(payload.count) + payload + [0xce])
        encoder.append([3, 0, 1, 0, 0, 0, 4] + Array("body".utf8) + [0xce])
        var bytes: [UInt8] = []
        encoder.take { bytes = Array($0) }
        try self.exchange(bytes, port: port)
    }

    /// A field table or array nested until a frame is full.
    static func nested(_ kind: Kind, bytes limit: Int = 130_000) -> (table: [UInt8], depth: Int) {
        // Written from the inside: each level is a head before what is already there.
        var reversed: [UInt8] = []
        var depth = 0
        while reversed.count < limit {
            let size = Self.number(reversed.count)
            let head: [UInt8] =
                switch kind {
                case .table: [1, UInt8(ascii: "a"), UInt8(ascii: "F")] + size
                case .array: [UInt8(ascii: "A")] + size
                }
            reversed += head.reversed()
            depth += 1
        }
        let inner = Array(reversed.reversed())
        return (kind == .table ? inner : [1, UInt8(ascii: "a")] + inner, depth)
    }

    enum Kind: Sendable {
        case table, array
    }

    private static func number(_ count: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(count).bigEndian) { Array($0) }
    }

    private static func exchange(_ bytes: [UInt8], port: Int) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Refused() }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Refused() }
            rest = rest.dropFirst(count)
        }
        // basic.ack on channel 1 for the first message.
        let ack: [UInt8] = [1, 0, 1, 0, 0, 0, 13, 0, 60, 0, 80, 0, 0, 0, 0, 0, 0, 0, 1]
        var seen: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !seen.ranges(of: ack).contains(where: { !$0.isEmpty }) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw Refused() }
            seen += buffer[..<count]
        }
    }
}
