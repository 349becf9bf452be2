internal import ArgumentParser
internal import Foundation
internal import Simulator

/// `pushfleet simulator`: an APNs for tests.
struct SimulatorVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Run an APNs for tests: real TLS and HTTP/2, Apple's checks and answers, faults on demand.",
        discussion: """
            It prints port=<number> and control_port=<number> when it listens,
            remembers every request, and can be asked and told things over HTTP on the
            control port. SIGTERM or Ctrl-C ends it.

            In one command, for a try or for your CI:
              pushfleet simulator --port 8443 --control-port 8444 \\
                  --generate-certificates certs --accept-any-key
            Have your sender use localhost:8443 and trust certs/server.pem.

            Then, at the control port (see deploy/simulator/openapi.yaml):
              http://localhost:8444/ in a browser shows what comes in

              Was a push sent to this token, and which was the last one?
                curl -s 'localhost:8444/tokens/9f86d081/last?wait=5s'
              Fail unless such a push was sent:
                curl -sf localhost:8444/expectations \\
                    -d '{"token":"9f86d081","payload":{"aps":{"badge":1}}}'
              Forget what was sent:
                curl -s -X DELETE localhost:8444/ledger

            Like Apple, with keys and apps that you name:
              pushfleet simulator --port 8443 --certificate certs/server.pem \\
                  --private-key certs/server.key \\
                  --signing-key KEY1234567:ABCDE12345:auth.pub.pem \\
                  --bundle-id com.example.shop

            A bad day, from a file that says what happens when. A dozen are shipped, and
            made to be read:
              pushfleet simulator --check deploy/simulator/scenarios/*.yaml
              pushfleet simulator --generate-certificates certs --accept-any-key \\
                  --scenario deploy/simulator/scenarios/outage-503.yaml

            Exit codes: 0 ended as asked, 1 cannot start, 64 wrong usage,
            78 a scenario cannot be used.
            """
    )

    @Option(help: "The IPv4 address to listen on.")
    var host = "127.0.0.1"
    @Option(help: "The port for pushes; 0 takes a free one.")
    var port: UInt16 = 0
    @Option(help: "A second port for pushes, as Apple has 2197 beside 443; 0 takes a free one.")
    var alternatePort: UInt16?
    @Option(help: "A port for pushes over HTTP/2 without TLS, for benchmarks; Apple has none. 0 takes a free one.")
    var cleartextPort: UInt16?
    @Option(
        help: "The port for channel management, see pushfleet channel; 0 takes a free one; without it there is none."
    )
    var channelPort: UInt16?
    @Option(help: "Broadcast channels that one app may have.")
    var channelLimit = 10_000
    @Option(help: "The port of the control API; 0 takes a free one.")
    var controlPort: UInt16 = 0
    @Option(help: "The address of the control API, which knows no passwords: nothing but a private network.")
    var controlHost = "127.0.0.1"
    @Flag(help: "Offer no control API.")
    var noControl = false
    @Option(
        name: [.customLong("certificate"), .customLong("cert")],
        help: "PEM file of the server's certificate chain."
    )
    var certificate: String?
    @Option(name: [.customLong("private-key"), .customLong("key")], help: "PEM file of its private key.")
    var privateKey: String?
    @Option(
        help: ArgumentHelp(
            "Instead of both: make server.pem and server.key in this folder, or use those that are there. "
                + "server.pem is the authority to trust as well.",
            valueName: "folder"
        )
    )
    var generateCertificates: String?
    @Option(
        name: .customLong("certificate-name"),
        help: ArgumentHelp(
            "A host name for which the certificate is made, beside localhost. May be repeated.",
            valueName: "name"
        )
    )
    var certificateNames: [String] = []
    @Option(
        name: .customLong("signing-key"),
        help: ArgumentHelp(
            "A provider's key: its id, the team, and a PEM file of its public half. May be repeated.",
            valueName: "kid:team:file"
        )
    )
    var signingKeys: [String] = []
    @Flag(
        help: ArgumentHelp(
            "Take provider tokens of keys that were never named, without a check of their signature. Apple takes none."
        )
    )
    var acceptAnyKey = false
    @Option(
        name: .customLong("bundle-id"),
        help: "An app of the team; pushes to other topics are refused. May be repeated; without it all are taken."
    )
    var bundleIDs: [String] = []
    @Option(help: "production or sandbox.")
    var environment = "production"
    @Option(help: "Time between a request's arrival and its answer.", transform: Duration.argument)
    var latency: Duration = .zero
    @Option(help: "Streams per connection before the first good provider token.")
    var initialStreams: UInt32 = 1
    @Option(help: "Streams per connection after it.")
    var streams: UInt32 = 1000
    @Option(help: "The same seed and the same requests give the same faults.")
    var seed: UInt64 = 1
    @Option(help: "Requests that the ledger keeps.")
    var ledgerLimit = 1_000_000
    @Option(
        help: "How tokens that were never set are answered: accept (as active) or refuse (as BadDeviceToken)."
    )
    var unknownTokens = UnknownTokens.accept.rawValue
    @Option(
        help: ArgumentHelp(
            "What it plays: a YAML file with settings, tokens, rules, and a timeline of what happens when. "
                + "What stands there goes before the other options.",
            valueName: "file"
        )
    )
    var scenario: String?
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Only check scenario files, and tell what each is about.", valueName: "file")
    )
    var check: [String] = []

    func validate() throws {
        guard self.check.isEmpty else { return }
        let isNamed = self.certificate != nil || self.privateKey != nil
        if self.generateCertificates != nil, isNamed {
            throw ValidationError("--generate-certificates cannot stand beside --certificate and --private-key")
        }
        if self.generateCertificates == nil, self.certificate == nil || self.privateKey == nil {
            throw ValidationError("name --certificate and --private-key, or a folder for --generate-certificates")
        }
        if self.generateCertificates == nil, !self.certificateNames.isEmpty {
            throw ValidationError("--certificate-name goes with --generate-certificates")
        }
    }

    func run() async throws {
        guard self.check.isEmpty else { return try ScenarioFile.check(self.check) }
        let settings = try self.settings()
        ServerProcess.ignoreBrokenPipes()
        do {
            let simulator = try await Simulator.start(settings)
            Terminal.print("port=\(simulator.port)")
            if let port = simulator.ports.alternate { Terminal.print("alternate_port=\(port)") }
            if let port = simulator.ports.cleartext { Terminal.print("cleartext_port=\(port)") }
            if let port = simulator.channelPort { Terminal.print("channel_port=\(port)") }
            if let port = simulator.controlPort { Terminal.print("control_port=\(port)") }
            try await StopSignals.run { _ in
            } _: { stop in
                for await _ in stop { break }
                await simulator.stop()
            }
        } catch {
            throw VerbFailure("the simulator cannot start: \(error)")
        }
    }

    private func settings() throws -> Simulator.Settings {
        var settings = Simulator.Settings(certificate: self.certificate ?? "", privateKey: self.privateKey ?? "")
        if let folder = self.generateCertificates {
            let pair = try GeneratedCertificate.make(in: folder, host: self.host, names: self.certificateNames)
            settings.certificate = pair.certificate
            settings.privateKey = pair.privateKey
        }
        settings.acceptsAnyKey = self.acceptAnyKey
        settings.host = self.host
        settings.port = self.port
        settings.alternatePort = self.alternatePort
        settings.cleartextPort = self.cleartextPort
        settings.channelPort = self.channelPort
        settings.channelLimit = self.channelLimit
        settings.controlPort = self.noControl ? nil : self.controlPort
        settings.controlHost = self.controlHost
        guard let environment = APNsEnvironment(rawValue: self.environment) else {
            throw ValidationError("--environment must be production or sandbox")
        }
        settings.environment = environment
        settings.keys = try self.signingKeys.map(Self.key)
        settings.bundleIDs = self.bundleIDs.isEmpty ? nil : Set(self.bundleIDs)
        guard let unknownTokens = UnknownTokens(rawValue: self.unknownTokens) else {
            throw ValidationError(
                "--unknown-tokens must be one of \(UnknownTokens.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        settings.unknownTokens = unknownTokens
        settings.latency = self.latency
        settings.initialStreams = self.initialStreams
        settings.streams = self.streams
        settings.seed = self.seed
        settings.ledgerLimit = self.ledgerLimit
        if let scenario = self.scenario { settings.play(try ScenarioFile.read(scenario)) }
        return settings
    }

    private static func key(_ text: String) throws -> ProviderKey {
        let parts = text.split(separator: ":", maxSplits: 2).map(String.init)
        guard parts.count == 3 else {
            throw ValidationError("--signing-key '\(text)' must be <key id>:<team id>:<file of the public key>")
        }
        do throws(ValueFault) {
            return ProviderKey(id: parts[0], team: parts[1], pem: try ConfigurationLoader.read(parts[2]))
        } catch {
            throw ValidationError("--signing-key: \(parts[2]) \(error.phrase)")
        }
    }
}
