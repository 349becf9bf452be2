internal import ArgumentParser
internal import Gateway
internal import Logging

/// `pushfleet gateway`: Amazon SNS' API in front of the fleet.
struct GatewayVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Run a gateway: Amazon SNS' mobile push, topics and subscriptions, delivered by the fleet.",
        discussion: """
            boto3, the aws command line and the other AWS SDKs work with nothing changed
            but the endpoint URL. It prints "port=<number>" when it listens, and logs to
            standard error. Run as many as you like: everything is in Redis and RabbitMQ.
            Access keys and master keys may change while it runs: it reads the
            configuration again when its file changes, and on SIGHUP.
            SIGTERM or Ctrl-C finishes what is under way and exits with 0.

            In the configuration, beside amqp and redis, where redis.master_key_file names
            the key that seals credentials (openssl rand -base64 32 makes one):
              gateway:
                region: eu-west-1
                account: "123456789012"
              access_keys:
                shop:
                  id: AKIAEXAMPLE
                  secret_file: /run/secrets/shop-key
                  allow: Publish on app/APNS/Shop, CreatePlatformEndpoint on app/*

            Then, with that id and secret in the SDK's usual place:
              aws --endpoint-url http://localhost:9911 sns create-platform-application \\
                  --name Shop --platform APNS --attributes file://key.json
              aws --endpoint-url http://localhost:9911 sns create-platform-endpoint \\
                  --platform-application-arn ARN --token 9f86d081…
              aws --endpoint-url http://localhost:9911 sns publish \\
                  --target-arn ARN --message Hello

            For a try without keys, on this machine only:
              PUSHFLEET_GATEWAY_ANONYMOUS=local-use-only pushfleet gateway

            GET /livez, /readyz and /metrics need no key.

            Exit codes: 0 ended as asked, 1 cannot start, 64 wrong usage, 78 wrong
            configuration.
            """
    )

    @OptionGroup var config: ConfigurationOption

    @Option(help: "The port to listen on; goes before gateway.port. 0 takes a free one.")
    var port: UInt16?

    func run() async throws {
        let loaded = try self.config.require([.servers, .gateway])
        let logger = ServerProcess.begin("pushfleet.gateway", logLevel: loaded.logLevel)
        do {
            let parts = try loaded.gatewayParts(port: self.port)
            let gateway = try await Gateway.start(parts, logger: logger)
            let option = self.config.file
            let reload = GatewayReload(of: loaded, gateway: gateway, logger: logger) {
                ConfigurationLoader().load(option: option, needs: [.servers, .gateway])
            }
            try await ServerProcess.serve(
                port: gateway.port,
                logger: logger,
                health: {
                    await gateway.turn()
                    return ServiceHealth(status: "listening on port \(gateway.port)")
                },
                reload: { await reload.run(hangups: $0) },
                stop: { await gateway.stop() }
            )
        } catch {
            throw VerbFailure("the gateway cannot start: \(error)")
        }
    }
}
