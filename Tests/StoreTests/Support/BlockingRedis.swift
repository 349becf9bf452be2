import Foundation
import TestServers

@testable import Store

/// Redis one call at a time on the caller's thread: for models that decide themselves what time it is.
final class BlockingRedis {
    struct Failure: Error {
        let text: String
    }

    private let socket: LoopbackSocket
    private let reader = ReplyReader()

    init(port: Int) throws {
        guard let socket = LoopbackSocket.connected(to: port) else { throw Failure(text: "nobody listens") }
        self.socket = socket
    }

    deinit {
        self.socket.close(reset: false)
    }

    func send(_ command: RedisCommand) throws -> RedisReply {
        var bytes: [UInt8] = []
        command.encode(into: &bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let count = self.socket.write(rest) else { throw Failure(text: "connection lost") }
            rest = rest.dropFirst(count)
            if count == 0 { _ = self.socket.wait(POLLOUT, .seconds(10)) }
        }
        while true {
            if let reply = try self.reader.next() { return reply }
            guard self.socket.wait(POLLIN, .seconds(10)) else { throw Failure(text: "no answer in 10 s") }
            switch self.socket.read() {
            case .bytes(let bytes): try bytes.withUnsafeBytes { try self.reader.feed($0) }
            case .nothing: continue
            case .end, .failure: throw Failure(text: "connection lost")
            }
        }
    }

    func run(_ call: ScriptCall) throws -> RedisReply {
        let reply = try self.send(call.byDigest)
        guard case .error(let error) = reply, error.kind == .noScript else { return reply }
        return try self.send(call.bySource)
    }
}
