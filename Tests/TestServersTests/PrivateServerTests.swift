import Foundation
import TestServers
import Testing

@Suite("Private servers")
struct PrivateServerTests {
    /// The first bytes of a broker's answer to an AMQP header: a method frame on channel 0.
    private static func answersAMQP(_ port: Int, within time: Duration = .seconds(10)) -> Bool {
        guard let socket = LoopbackSocket.connected(to: port) else { return false }
        defer { socket.close(reset: false) }
        guard socket.write(Array("AMQP\u{0}\u{0}\u{9}\u{1}".utf8)[...]) == 8, socket.wait(POLLIN, time) else {
            return false
        }
        guard case .bytes(let bytes) = socket.read() else { return false }
        return bytes.starts(with: [1, 0, 0])
    }

    private static func ping(_ port: Int, within time: Duration) -> Bool {
        guard let socket = LoopbackSocket.connected(to: port) else { return false }
        defer { socket.close(reset: false) }
        guard socket.write(Array("PING\r\n".utf8)[...]) == 6, socket.wait(POLLIN, time) else { return false }
        return socket.read() == .bytes(Array("+PONG\r\n".utf8))
    }

    @Test("RabbitMQ answers, and hands out every virtual host once")
    func sharedRabbitMQ() throws {
        let broker = PrivateRabbitMQ.shared
        #expect(Self.answersAMQP(broker.port))
        #expect(broker.tlsPort != nil)
        let (first, second) = (try broker.makeVhost(), try broker.makeVhost())
        #expect(first != second)
        let listed = try broker.rabbitmqctl("list_permissions", "-p", second)
        #expect(listed.contains("guest\t.*\t.*\t.*"))
    }

    @Test("RabbitMQ keeps its data and port over a restart and over SIGKILL, and is silent while paused")
    func rabbitMQRestarts() throws {
        let broker = try PrivateRabbitMQ(vhosts: 1)
        let port = broker.port
        _ = try broker.makeVhost()
        let late = try broker.makeVhost()  // beyond the prepared ones
        try broker.restart()
        #expect(broker.port == port && Self.answersAMQP(port))
        let pid = try #require(broker.pid)
        broker.pause()
        #expect(!Self.answersAMQP(port, within: .seconds(1)))
        broker.resume()
        #expect(Self.answersAMQP(port))
        try broker.kill()
        #expect(!Self.answersAMQP(port))
        #expect(broker.pid == nil)
        try broker.start()
        #expect(broker.port == port && broker.pid != pid && Self.answersAMQP(port))
        #expect(try broker.rabbitmqctl("list_vhosts").split(separator: "\n").contains(Substring(late)))
        broker.stop()
        #expect(!Self.answersAMQP(port))
        #expect(!FileManager.default.fileExists(atPath: broker.directory))
    }

    @Test("Redis keeps its data over SIGKILL, unless it is volatile", arguments: [false, true])
    func redisRestarts(volatile: Bool) throws {
        let redis = try PrivateRedis(password: "p\"a\\ss word", tls: .shared, volatile: volatile)
        let (port, tlsPort) = (redis.port, redis.tlsPort)
        #expect(try redis.cli("set", "key", "value") == "OK")
        try redis.kill()
        try redis.start()
        #expect(redis.port == port && redis.tlsPort == tlsPort && tlsPort != nil)
        #expect(try redis.cli("get", "key") == (volatile ? "" : "value"))
        // By its process: another test's server may take the free port at once.
        let program = "/proc/\(try #require(redis.pid))/exe"
        #expect(FileManager.default.fileExists(atPath: program))
        redis.stop()
        #expect(redis.pid == nil && !FileManager.default.fileExists(atPath: program))
    }

    @Test("a paused Redis is silent until it resumes")
    func redisPauses() throws {
        let redis = try PrivateRedis()
        redis.pause()
        #expect(!Self.ping(redis.port, within: .seconds(1)))
        redis.resume()
        #expect(Self.ping(redis.port, within: .seconds(10)))
        redis.stop()
    }

    @Test("the shared server certificate is for localhost and signed by the test authority")
    func certificates() throws {
        let certificates = TestCertificates.shared
        let verify = ["openssl", "verify", "-verify_hostname", "localhost", "-CAfile"]
        #expect(throws: Never.self) {
            try Repository.run(verify + [certificates.authority, certificates.serverCertificate])
        }
        #expect(throws: CommandFailure.self) {
            try Repository.run(verify + [certificates.unknownAuthority, certificates.serverCertificate])
        }
        #expect(throws: CommandFailure.self) {
            try Repository.run(verify + [certificates.authority, certificates.expiredCertificate])
        }
    }
}
