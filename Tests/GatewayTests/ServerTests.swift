import Foundation
import FoundationNetworking
import Push
import TestServers
import Testing
import WebServer

@testable import Gateway

@Suite struct ServerTests {
    @Test("probes answer without a key, metrics in Prometheus' format")
    func probes() async throws {
        let test = try await TestGateway.start { $0.allowsAnonymous = false }
        #expect(try await test.get("/livez").text == "ok\n")
        let refused = try await test.call("ListTopics")
        #expect(refused.status == 403 && refused.element("Code") == "MissingAuthenticationToken")
        let metrics = try await test.get("/metrics").text
        #expect(
            metrics.contains(
                "pushfleet_gateway_requests_total{action=\"unknown\",code=\"MissingAuthenticationToken\"} 1"
            )
        )
        #expect(metrics.contains("# TYPE pushfleet_gateway_request_duration_seconds histogram"))
        try await eventually("it takes what is in its queues") {
            let metrics = try await test.get("/metrics").text
            return ["fanout", "feedback", "receipts", "webhooks"].allSatisfy {
                metrics.contains("pushfleet_gateway_consuming{queue=\"pushfleet.gateway.\($0)\"} 1\n")
            }
        }
        await test.gateway.stop()
    }

    @Test("a body over the limit is refused before it is read")
    func tooLarge() async throws {
        let test = try await TestGateway.start()
        let socket = try #require(LoopbackSocket.connected(to: Int(test.gateway.port)))
        let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n"
        #expect(Self.exchange(head, on: socket).hasPrefix("HTTP/1.1 413"))
        await test.gateway.stop()
    }

    @Test("headers beyond their limits are refused, and nobody else notices")
    func tooManyHeaders() async throws {
        let test = try await TestGateway.start()
        let long = "X-Long: \(String(repeating: "x", count: 40 * 1024))\r\n"
        let many = (0..<500).map { "X-\($0): \(String(repeating: "x", count: 100))\r\n" }.joined()
        for headers in [long, many] {
            let socket = try #require(LoopbackSocket.connected(to: Int(test.gateway.port)))
            let answer = Self.exchange("GET /livez HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n", on: socket)
            #expect(!answer.hasPrefix("HTTP/1.1 2"), "\(answer)")
            socket.close(reset: false)
            #expect(try await test.get("/livez").status == 200)
        }
        await test.gateway.stop()
    }

    @Test("connections beyond the limit wait until others end")
    func connections() async throws {
        // The test's own client may hold one or two.
        let test = try await TestGateway.start { $0.connectionLimit = 6 }
        let request = Array("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        var waiting: [LoopbackSocket] = []
        for _ in 0..<24 {
            let socket = try #require(LoopbackSocket.connected(to: Int(test.gateway.port)))
            _ = socket.write(request[...])
            waiting.append(socket)
        }
        var answered: [LoopbackSocket] = []
        func look() {
            waiting.removeAll { socket in
                guard case .bytes = socket.read() else { return false }
                answered.append(socket)
                return true
            }
        }
        try await eventually("some are answered") {
            look()
            return answered.count >= 3
        }
        // That others are not answered is no event.
        try await Task.sleep(for: .seconds(1))
        look()
        // The server takes four connections at a time from the kernel, so up to three come on top.
        #expect((3...9).contains(answered.count))
        try await eventually("all are answered, as the first go") {
            for socket in answered { socket.close(reset: false) }
            answered = []
            look()
            return waiting.isEmpty
        }
        for socket in answered { socket.close(reset: false) }
        await test.gateway.stop()
    }

    @Test("a client that never ends its request loses its connection")
    func slow() async throws {
        let test = try await TestGateway.start { $0.requestTimeout = .milliseconds(500) }
        let socket = try #require(LoopbackSocket.connected(to: Int(test.gateway.port)))
        let head = Array("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n".utf8)
        _ = socket.write(head[...])
        // A byte now and then is no reason to wait.
        try await eventually("the connection is closed") {
            _ = socket.write(Array("a".utf8)[...])
            switch socket.read() {
            case .end, .failure: return true
            case .bytes, .nothing: return false
            }
        }
        #expect(try await test.get("/livez").status == 200)
        await test.gateway.stop()
    }

    @Test("without Redis it is not ready, and answers what SDKs try again")
    func withoutRedis() async throws {
        let test = try await TestGateway.start()
        try test.redis.kill()
        try await eventually("it is not ready") { try await test.get("/readyz").status == 503 }
        #expect(try await test.get("/readyz").text.contains("Redis"))
        let answer = try await test.call("ListTopics")
        #expect(answer.status == 503 && answer.element("Code") == "ServiceUnavailable")
        #expect(answer.element("Type") == "Receiver")
        #expect(try await test.get("/livez").status == 200)
        await test.gateway.stop()
    }

    @Test("while RabbitMQ takes nothing, a publish is answered with what SDKs try again, and then goes through once")
    func alarm() async throws {
        let rabbitMQ = try PrivateRabbitMQ(vhosts: 1)
        let test = try await TestGateway.start(broker: rabbitMQ)
        let application = try await test.makeApplication()
        let endpoint = try await test.makeEndpoint("00ff", of: application)
        try rabbitMQ.rabbitmqctl("set_vm_memory_high_watermark", "absolute", "1")
        let headers = ["amz-sdk-invocation-id": "one-call"]
        let call = ["TargetArn": endpoint, "Message": "Hello"]
        // The broker tells a connection that it is blocked when that publishes for the first time.
        try await eventually("publishes are refused") {
            let answer = try await test.call("Publish", call, headers: headers)
            return answer.status == 503 && answer.element("Code") == "ServiceUnavailable"
        }
        try rabbitMQ.rabbitmqctl("set_vm_memory_high_watermark", "0.6")
        let id: String = try await eventually("it goes through") {
            let answer = try await test.call("Publish", call, headers: headers)
            return answer.status == 200 ? answer.element("MessageId") : nil
        }
        let again = try await test.call("Publish", call, headers: headers)
        #expect(again.element("MessageId") == id)
        await test.gateway.stop()
    }

    @Test("HTTPS")
    func https() async throws {
        let certificates = TestCertificates.shared
        let test = try await TestGateway.start { settings in
            settings.tls = WebServer.TLSFiles(
                certificate: certificates.serverCertificate,
                privateKey: certificates.serverKey
            )
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = [
            "-s", "--cacert", certificates.authority, "https://localhost:\(test.gateway.port)/livez",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(String(decoding: data, as: UTF8.self) == "ok\n")
        await test.gateway.stop()
    }

    private static func exchange(_ text: String, on socket: LoopbackSocket) -> String {
        _ = socket.write(Array(text.utf8)[...])
        var answer: [UInt8] = []
        while socket.wait(Int32(POLLIN), .seconds(30)) {
            switch socket.read() {
            case .bytes(let bytes): answer += bytes
            case .nothing: continue
            case .end, .failure: return String(decoding: answer, as: UTF8.self)
            }
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
