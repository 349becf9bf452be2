import Testing
import Wire

@testable import Broker

@Suite struct AMQPAddressTests {
    struct Good: Sendable {
        var text: String
        var endpoint: Endpoint
        var usesTLS = false
        var user = "guest"
        var password = "guest"
        var virtualHost = "/"
        var heartbeat = 10
    }

    @Test(arguments: [
        Good(text: "amqp://rabbit", endpoint: Endpoint(host: "rabbit", port: 5672)),
        Good(text: "amqp://rabbit/", endpoint: Endpoint(host: "rabbit", port: 5672)),
        Good(text: "amqps://rabbit", endpoint: Endpoint(host: "rabbit", port: 5671), usesTLS: true),
        Good(text: "amqp://rabbit:1234/%2F", endpoint: Endpoint(host: "rabbit", port: 1234)),
        Good(text: "amqp://rabbit:/push", endpoint: Endpoint(host: "rabbit", port: 5672), virtualHost: "push"),
        Good(text: "amqp://[::1]:99/a%2Fb", endpoint: Endpoint(host: "::1", port: 99), virtualHost: "a/b"),
        Good(text: "amqp://[fe80::1]", endpoint: Endpoint(host: "fe80::1", port: 5672)),
        Good(
            text: "amqps://w%40rk:p%3a%2f@h/v?heartbeat=30",
            endpoint: Endpoint(host: "h", port: 5671),
            usesTLS: true,
            user: "w@rk",
            password: "p:/",
            virtualHost: "v",
            heartbeat: 30
        ),
        Good(text: "amqp://u@h", endpoint: Endpoint(host: "h", port: 5672), user: "u", password: ""),
        Good(text: "amqp://u:a@b@h", endpoint: Endpoint(host: "h", port: 5672), user: "u", password: "a@b"),
        Good(text: "amqp://u:a:b@h", endpoint: Endpoint(host: "h", port: 5672), user: "u", password: "a:b"),
    ])
    func `Addresses are taken apart`(good: Good) throws {
        let address = try AMQPAddress(parsing: good.text)
        #expect(address.endpoint == good.endpoint)
        #expect(address.usesTLS == good.usesTLS)
        #expect(address.user == good.user)
        #expect(address.password == good.password)
        #expect(address.virtualHost == good.virtualHost)
        #expect(address.heartbeat == .seconds(good.heartbeat))
    }

    @Test(
        arguments: [
            ("", .scheme), ("http://h", .scheme), ("amqp:h", .scheme), ("amqp://", .host), ("amqp:///v", .host),
            ("amqp://u:p@", .host), ("amqp://:p@h", .user), ("amqp://u%4@h", .user), ("amqp://u:%zz@h", .password),
            ("amqp://u:%ff@h", .password), ("amqp://h:0", .port), ("amqp://h:65536", .port), ("amqp://h:http", .port),
            ("amqp://::1", .host), ("amqp://[::1", .host), ("amqp://[::1]x", .host), ("amqp://h/%C3", .virtualHost),
            ("amqp://h?heartbeat=0", .heartbeat), ("amqp://h?heartbeat", .heartbeat),
            ("amqp://h?heartbeat=x", .heartbeat),
            ("amqp://h/v?frame_max=1", .query),
        ] as [(String, AMQPAddressError.Part)]
    )
    func `An address that cannot be used is refused by the part that is wrong`(
        text: String,
        part: AMQPAddressError.Part
    ) {
        let error = #expect(throws: AMQPAddressError.self) { try AMQPAddress(parsing: text) }
        #expect(error?.part == part)
    }

    @Test func `The password is never shown`() throws {
        let address = try AMQPAddress(parsing: "amqps://worker:s3cret@rabbit/push")
        var dumped = ""
        dump(address, to: &dumped)
        let settings = BrokerSettings(address: address, connectionName: "test")
        dump(settings, to: &dumped)
        for text in ["\(address)", String(reflecting: address), "\(Optional(address) as Any)", "\(settings)", dumped] {
            #expect(!text.contains("s3cret"))
        }
        #expect("\(address)" == "amqps://worker@rabbit:5671/push")
        let error = #expect(throws: AMQPAddressError.self) { try AMQPAddress(parsing: "amqp://u:s3cret%@h") }
        #expect(error.map { !"\($0)".contains("s3cret") } == true)
    }
}
