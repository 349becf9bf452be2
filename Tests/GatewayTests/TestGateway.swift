import Broker
import Foundation
import FoundationNetworking
import Logging
import Push
import Registry
import TestServers

@testable import Gateway
@testable import Store

/// A gateway with a virtual host and a Redis of its own, and a client for it that needs no signature.
final class TestGateway: Sendable {
    let gateway: Gateway
    let redis: PrivateRedis
    let vhost: String
    let settings: GatewaySettings

    static let account = "arn:aws:sns:eu-west-1:123456789012:"

    private init(gateway: Gateway, redis: PrivateRedis, vhost: String, settings: GatewaySettings) {
        self.gateway = gateway
        self.redis = redis
        self.vhost = vhost
        self.settings = settings
    }

    static func start(
        beside other: TestGateway? = nil,
        broker: PrivateRabbitMQ = .shared,
        _ change: (inout GatewaySettings) -> Void = { _ in }
    ) async throws -> TestGateway {
        var settings = GatewaySettings()
        settings.port = 0
        settings.region = "eu-west-1"
        settings.account = "123456789012"
        settings.allowsAnonymous = true
        settings.masterKeys = try SealingKeys(String(repeating: "07", count: 32))
        change(&settings)
        let redis = try other?.redis ?? PrivateRedis()
        let vhost = try other?.vhost ?? broker.makeVhost()
        var address = RedisAddress(host: "127.0.0.1", port: UInt16(redis.port))
        (address.user, address.password) = try await Self.access(to: redis)
        let parts = GatewayParts(
            settings,
            broker: BrokerSettings(
                address: try AMQPAddress(parsing: broker.url(vhost: vhost)),
                connectionName: "test gateway"
            ),
            redis: address
        )
        let gateway = try await Gateway.start(parts, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let test = TestGateway(gateway: gateway, redis: redis, vhost: vhost, settings: settings)
        guard settings.tls == nil else { return test }
        try await eventually("the gateway is ready") { try await test.get("/readyz").status == 200 }
        return test
    }

    /// Gateways may do what `deploy/redis/users.acl.example` allows them, and no more.
    private static func access(to redis: PrivateRedis) async throws -> (user: String, password: String?) {
        let file = "\(Repository.root)/deploy/redis/users.acl.example"
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("user gateway ") }) else {
            throw NeverHappened(description: "no user for the gateway")
        }
        let words = line.split(separator: " ").map(String.init)
        var command = RedisCommand("ACL", "SETUSER")
        for word in words.dropFirst() { command.add(word) }
        let session = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(redis.port)))
        _ = try await session.send(command)
        session.close()
        return ("gateway", words.first { $0.hasPrefix(">") }.map { String($0.dropFirst()) })
    }

    func session() async throws -> BrokerSession {
        try await BrokerSession.connect(
            BrokerSettings(
                address: AMQPAddress(parsing: PrivateRabbitMQ.shared.url(vhost: self.vhost)),
                connectionName: "test"
            ),
            timeout: .seconds(60)
        )
    }

    // MARK: Over HTTP

    struct Answer: Sendable {
        let status: Int
        let text: String

        /// The text of the first element with this name.
        func element(_ name: String) -> String? {
            guard let start = self.text.range(of: "<\(name)>"), let end = self.text.range(of: "</\(name)>") else {
                return nil
            }
            return String(self.text[start.upperBound..<end.lowerBound])
        }
    }

    func get(_ path: String) async throws -> Answer {
        guard let url = URL(string: "http://127.0.0.1:\(self.gateway.port)\(path)") else { throw URLError(.badURL) }
        return try await Self.send(URLRequest(url: url))
    }

    /// One request beyond Amazon's.
    func request(_ method: String, _ path: String, body: String = "") async throws -> Answer {
        guard let url = URL(string: "http://127.0.0.1:\(self.gateway.port)\(path)") else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.timeoutInterval = 90
        if !body.isEmpty { request.httpBody = Data(body.utf8) }
        return try await Self.send(request)
    }

    /// One call; `headers` go with it.
    func call(_ action: String, _ parameters: [String: String] = [:], headers: [String: String] = [:]) async throws
        -> Answer
    {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let pairs = parameters.merging(["Action": action, "Version": "2010-03-31"]) { given, _ in given }
        let body = pairs.sorted { $0.key < $1.key }.map { key, value in
            "\(key)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
        }.joined(separator: "&")
        guard let url = URL(string: "http://127.0.0.1:\(self.gateway.port)/") else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.timeoutInterval = 90
        request.httpBody = Data(body.utf8)
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return try await Self.send(request)
    }

    private static func send(_ request: URLRequest) async throws -> Answer {
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return Answer(status: status, text: String(decoding: data, as: UTF8.self))
    }

    // MARK: What most tests need

    /// Makes the application `Shop`; its ARN.
    func makeApplication(_ attributes: [String: String] = [:]) async throws -> String {
        let key = try String(contentsOfFile: TestCertificates.shared.signingKey, encoding: .utf8)
        let all = [
            "PlatformPrincipal": "KEY1234567", "PlatformCredential": key, "ApplePlatformTeamID": "TEAM123456",
            "ApplePlatformBundleID": "com.example.shop",
        ].merging(attributes) { $1 }
        var parameters = ["Name": "Shop", "Platform": "APNS"]
        for (index, attribute) in all.enumerated() {
            parameters["Attributes.entry.\(index + 1).key"] = attribute.key
            parameters["Attributes.entry.\(index + 1).value"] = attribute.value
        }
        let answer = try await self.call("CreatePlatformApplication", parameters)
        guard let arn = answer.element("PlatformApplicationArn") else { throw NeverHappened(description: answer.text) }
        return arn
    }

    func makeEndpoint(_ token: String, of application: String) async throws -> String {
        let answer = try await self.call(
            "CreatePlatformEndpoint",
            ["PlatformApplicationArn": application, "Token": token]
        )
        guard let arn = answer.element("EndpointArn") else { throw NeverHappened(description: answer.text) }
        return arn
    }

    /// Makes a topic and subscribes new endpoints with these tokens, without a call for each.
    func makeTopic(_ name: String, tokens: [String]) async throws -> String {
        let answer = try await self.call("CreateTopic", ["Name": name])
        guard let arn = answer.element("TopicArn") else { throw NeverHappened(description: answer.text) }
        let application = ApplicationName(platform: "APNS", name: "Shop")
        for start in stride(from: 0, to: tokens.count, by: 500) {
            try await self.subscribe(Array(tokens[start..<min(start + 500, tokens.count)]), application, to: name)
        }
        return arn
    }

    private func subscribe(_ tokens: [String], _ application: ApplicationName, to name: String) async throws {
        let failures: [String] = await self.gateway.desk.ask { core, completion in
            var rest = tokens.count
            var failures: [String] = []
            func done(_ failure: String?) {
                if let failure { failures.append(failure) }
                rest -= 1
                if rest == 0 { completion(failures) }
            }
            guard rest > 0 else { return completion([]) }
            for token in tokens {
                core.registry.createEndpoint(NewEndpoint(application, token: EndpointToken(token))) { result in
                    guard case .success(.created(let id)) = result else { return done("\(result)") }
                    let endpoint = EndpointName(application: application, id: id)
                    core.registry.subscribe(.endpoint(endpoint), to: name) { result in
                        guard case .success(.created) = result else { return done("\(result)") }
                        done(nil)
                    }
                }
            }
        }
        guard failures.isEmpty else { throw NeverHappened(description: "subscribed: \(failures[0])") }
    }

    static let app = "sns.apns.Shop"

    /// Takes everything out of the app's queues until `count` tokens have come.
    func take(tokens count: Int, from session: BrokerSession) async throws -> [TakenMessage] {
        var taken: [TakenMessage] = []
        var found = 0
        try await eventually("\(count) tokens in messages") {
            for lane in ["now", "bulk"] {
                while let delivery = try await session.get(queue: "pushfleet.\(Self.app).\(lane)") {
                    let message = try TakenMessage(delivery, lane: lane)
                    found += message.tokens.count
                    taken.append(message)
                    try await session.ack(delivery.id)
                }
            }
            return found >= count
        }
        return taken
    }
}

/// A message of the fleet's contract that was published.
struct TakenMessage {
    let id: String
    let lane: String
    let once: String?
    let schedule: String?
    let tokens: [String]
    let body: String

    init(_ delivery: Delivery, lane: String) throws {
        self.id = String(decoding: delivery.messageID, as: UTF8.self)
        self.lane = lane
        self.once = delivery.headers.once
        self.schedule = delivery.headers.schedule
        self.body = String(decoding: delivery.body, as: UTF8.self)
        let object = try JSONSerialization.jsonObject(with: Data(delivery.body)) as? [String: Any]
        self.tokens = object?["tokens"] as? [String] ?? []
    }
}
